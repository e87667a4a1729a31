-- reads:  unit_pairs(doc_a, unit_a, doc_b, unit_b, similarity), docs(doc, doc_id)
-- writes: shared(a, b, pairs, sentences_a, sentences_b): the documents that share sentences: how many
--         pairs of sentences, of how many of each
CREATE TABLE shared AS
SELECT
    unit_pairs.doc_a AS a,
    unit_pairs.doc_b AS b,
    count(*) AS pairs,
    count(DISTINCT unit_pairs.unit_a) AS sentences_a,
    count(DISTINCT unit_pairs.unit_b) AS sentences_b
FROM unit_pairs
GROUP BY unit_pairs.doc_a, unit_pairs.doc_b
