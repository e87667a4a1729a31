-- reads:  runs(doc, item, word_start, word_end, item_word_start, item_word_end), stretches(doc, word_start, word_end),
--         compared_texts(doc, text)
-- writes: places(doc, word_start, word_end, char_start, char_end, byte_start, byte_end): where these words stand in documents and items
CREATE TABLE places AS
WITH parts AS (
    SELECT doc, word_start, word_end FROM runs
    UNION
    SELECT item, item_word_start, item_word_end FROM runs
    UNION
    SELECT doc, word_start, word_end FROM stretches
),
gathered AS (
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
    SELECT gathered.doc, unnest(located_words(compared_texts.text, gathered.parts, [0])) AS place
    FROM gathered JOIN compared_texts ON gathered.doc = compared_texts.doc
)
