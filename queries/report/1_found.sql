-- reads:  result: the rows of a method, of which parameters name the columns, NULL where there is none
-- writes: found(doc_a, doc_b, char_a_start … char_b_end, sent_a_start … sent_b_end, similarity, kind, fields …): pairs of places, whatever
--         the method; without characters they are sentences, and without these whole documents
CREATE VIEW found AS
SELECT
    CAST($doc_a AS VARCHAR) AS doc_a,
    CAST($doc_b AS VARCHAR) AS doc_b,
    CAST($char_a_start AS BIGINT) AS char_a_start,
    CAST($char_a_end AS BIGINT) AS char_a_end,
    CAST($char_b_start AS BIGINT) AS char_b_start,
    CAST($char_b_end AS BIGINT) AS char_b_end,
    CAST($sent_a_start AS BIGINT) AS sent_a_start,
    CAST($sent_a_end AS BIGINT) AS sent_a_end,
    CAST($sent_b_start AS BIGINT) AS sent_b_start,
    CAST($sent_b_end AS BIGINT) AS sent_b_end,
    CAST($similarity AS DOUBLE) AS similarity,
    CAST($kind AS VARCHAR) AS kind,
    $fields
FROM result
