-- reads:  sentences and against_sentences(doc_id, sent, char_start, char_end)
-- writes: sided_sentences(side, doc_id, sent, char_start, char_end): where the sentences of both collections stand
CREATE VIEW sided_sentences AS
SELECT
    0 AS side,
    CAST(doc_id AS VARCHAR) AS doc_id,
    sent,
    CAST(char_start AS BIGINT) AS char_start,
    CAST(char_end AS BIGINT) AS char_end
FROM sentences
UNION ALL
SELECT
    1 AS side,
    CAST(doc_id AS VARCHAR) AS doc_id,
    sent,
    CAST(char_start AS BIGINT) AS char_start,
    CAST(char_end AS BIGINT) AS char_end
FROM against_sentences
