-- reads:  matches(…)
-- writes: how many there are, pairs of documents, and documents
SELECT
    CAST(count(*) AS BIGINT) AS matches,
    CAST(count(DISTINCT concat_ws(chr(31), doc_a, doc_b)) AS BIGINT) AS pairs
FROM matches
