-- reads:  unit_pairs(doc_a, unit_a, doc_b, unit_b, similarity)
-- writes: shared(a, b, pairs, texts_a, texts_b): the documents that share texts: how many pairs of texts, of how many places in
--         each
CREATE TABLE shared AS
SELECT doc_a AS a, doc_b AS b, sum(pairs) AS pairs, sum(text_a) AS texts_a, sum(text_b) AS texts_b
FROM (
    -- Twice, since groups go to disk where memory is short, and sets of distinct values do not.
    SELECT doc_a, doc_b, count(*) AS pairs, 1 AS text_a, 0 AS text_b FROM unit_pairs GROUP BY doc_a, doc_b, unit_a
    UNION ALL
    SELECT doc_a, doc_b, 0 AS pairs, 0 AS text_a, 1 AS text_b FROM unit_pairs GROUP BY doc_a, doc_b, unit_b
)
GROUP BY doc_a, doc_b
