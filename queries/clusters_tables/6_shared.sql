-- reads:  unit_pairs(doc_a, unit_a, doc_b, unit_b, similarity)
-- writes: shared(a, b, pairs, texts_a, texts_b): the documents that share texts: how many pairs of texts, of how many places in
--         each
CREATE TABLE shared AS
WITH counted AS (
    SELECT doc_a, doc_b, unit_a, unit_b, count(*) AS pairs
    FROM unit_pairs
    GROUP BY GROUPING SETS ((doc_a, doc_b, unit_a), (doc_a, doc_b, unit_b))
)
SELECT doc_a AS a, doc_b AS b, sum(pairs) FILTER (WHERE unit_b IS NULL) AS pairs, count(unit_a) AS texts_a, count(unit_b) AS texts_b
FROM counted
GROUP BY doc_a, doc_b
