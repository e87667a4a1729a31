-- reads:  unit_pairs(doc_a, unit_a, doc_b, unit_b, similarity), docs(doc, doc_id)
-- writes: pairs(id_a, id_b, similarity, sent_a, sent_b)
SELECT
    a.doc_id AS id_a,
    b.doc_id AS id_b,
    unit_pairs.similarity,
    CAST(unit_pairs.unit_a % 4294967296 AS INT) AS sent_a,
    CAST(unit_pairs.unit_b % 4294967296 AS INT) AS sent_b
FROM unit_pairs JOIN docs AS a ON unit_pairs.doc_a = a.doc JOIN docs AS b ON unit_pairs.doc_b = b.doc
ORDER BY unit_pairs.unit_a, unit_pairs.unit_b
