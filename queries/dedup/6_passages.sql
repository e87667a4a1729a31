-- reads:  runs(unit, word_start, word_end, kept_unit, kept_word_start, kept_word_end), units(unit, text), ranks(unit, doc, position)
-- writes: passages(passage, unit, word_start, word_end, doc, piece, position, char_start, char_end, byte_start, byte_end): what goes and
--         what stays for it, with where it stands, numbered in all and in its document
CREATE TABLE passages AS
WITH parts AS (
    SELECT unit, word_start, word_end FROM runs
    UNION
    SELECT kept_unit, kept_word_start, kept_word_end FROM runs
),
gathered AS (
    SELECT unit, array_agg(named_struct('word_start', word_start, 'word_end', word_end)) AS parts FROM parts GROUP BY unit
),
located AS (
    SELECT gathered.unit, unnest(located_words(units.text, gathered.parts, [0])) AS place
    FROM gathered JOIN units ON gathered.unit = units.unit
),
places AS (
    SELECT
        unit,
        place['word_start'] AS word_start,
        place['word_end'] AS word_end,
        place['char_start'] AS char_start,
        place['char_end'] AS char_end,
        place['byte_start'] AS byte_start,
        place['byte_end'] AS byte_end
    FROM located
)
SELECT
    CAST(row_number() OVER (ORDER BY places.unit, places.word_start, places.word_end) AS BIGINT) - 1 AS passage,
    CAST(row_number() OVER (PARTITION BY places.unit ORDER BY places.word_start, places.word_end) AS INT) - 1 AS piece,
    places.*,
    ranks.doc,
    ranks.position
FROM places JOIN ranks ON places.unit = ranks.unit
