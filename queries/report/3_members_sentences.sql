-- reads:  grouped(…), sides(side, doc_id, seconds), sentences and against_sentences(doc_id, sent, char_start, char_end)
-- writes: members(group_id, side, doc_id, char_start, char_end, representative, similarity, ignored, seconds)
CREATE TABLE members AS
WITH sentences_of AS (
    SELECT 0 AS side, CAST(doc_id AS VARCHAR) AS doc_id, sent, char_start, char_end FROM sentences
    UNION ALL
    SELECT 1 AS side, CAST(doc_id AS VARCHAR) AS doc_id, sent, char_start, char_end FROM against_sentences
)
SELECT
    grouped.group_id,
    grouped.side,
    grouped.doc_id,
    CAST(sentences_of.char_start AS BIGINT) AS char_start,
    CAST(sentences_of.char_end AS BIGINT) AS char_end,
    grouped.representative,
    grouped.similarity,
    grouped.ignored,
    sides.seconds
FROM grouped
JOIN sides ON grouped.side = sides.side AND grouped.doc_id = sides.doc_id
JOIN sentences_of ON sides.side = sentences_of.side AND grouped.doc_id = sentences_of.doc_id AND grouped.sent = sentences_of.sent
