-- reads:  parts(doc, word_start, word_end), $texts(doc, text)
-- writes: places(doc, word_start, word_end, char_start, char_end, byte_start, byte_end): where these words stand
CREATE TABLE places AS
WITH gathered AS (
    SELECT doc, array_agg(named_struct('word_start', word_start, 'word_end', word_end)) AS parts FROM parts GROUP BY doc
)
SELECT
    doc,
    place['word_start'] AS word_start,
    place['word_end'] AS word_end,
    place['char_start'] AS char_start,
    place['char_end'] AS char_end,
    place['byte_start'] AS byte_start,
    place['byte_end'] AS byte_end
FROM (
    SELECT gathered.doc, unnest(located_words(located_in.text, gathered.parts, [0])) AS place
    FROM gathered JOIN $texts AS located_in ON gathered.doc = located_in.doc
)
