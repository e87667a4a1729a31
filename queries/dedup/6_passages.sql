-- reads:  places(doc, word_start, word_end, char_start, char_end, byte_start, byte_end), ranks(unit, doc, position)
-- writes: passages(passage, piece, doc, word_start, word_end, char_start, char_end, byte_start, byte_end, position): what goes and what
--         stays for it, with where it stands, numbered in all, in the order in which documents are kept, and in its document
CREATE TABLE passages AS
SELECT
    CAST(row_number() OVER (ORDER BY ranks.unit, places.word_start, places.word_end) AS BIGINT) - 1 AS passage,
    CAST(row_number() OVER (PARTITION BY places.doc ORDER BY places.word_start, places.word_end) AS INT) - 1 AS piece,
    places.*,
    ranks.position
FROM places JOIN ranks ON places.doc = ranks.doc
