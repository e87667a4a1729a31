-- reads:  found(…), sentences and against_sentences(doc_id, sent, char_start, char_end)
-- writes: placed(…): the same, with the characters of the sentences; those of b are of collection $side_b
CREATE VIEW placed AS
WITH sentences_of AS (
    SELECT 0 AS side, CAST(doc_id AS VARCHAR) AS doc_id, sent, char_start, char_end FROM sentences
    UNION ALL
    SELECT 1 AS side, CAST(doc_id AS VARCHAR) AS doc_id, sent, char_start, char_end FROM against_sentences
)
SELECT
    found.* EXCEPT (char_a_start, char_a_end, char_b_start, char_b_end),
    CAST(a.char_start AS BIGINT) AS char_a_start,
    CAST(a.char_end AS BIGINT) AS char_a_end,
    CAST(b.char_start AS BIGINT) AS char_b_start,
    CAST(b.char_end AS BIGINT) AS char_b_end
FROM found
JOIN sentences_of AS a ON a.side = 0 AND found.doc_a = a.doc_id AND found.sent_a_start = a.sent
JOIN sentences_of AS b ON b.side = $side_b AND found.doc_b = b.doc_id AND found.sent_b_start = b.sent
