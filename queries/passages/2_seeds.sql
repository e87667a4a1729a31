-- reads:  unit_pairs(doc_a, unit_a, text_a, doc_b, unit_b, text_b, similarity), weights(text_a, text_b, weight)
-- writes: seeds(doc_a, sent_a, doc_b, sent_b, similarity, weight): the matching sentences that may found a passage
CREATE TABLE seeds AS
SELECT
    unit_pairs.doc_a,
    CAST(unit_pairs.unit_a % 4294967296 AS INT) AS sent_a,
    unit_pairs.doc_b,
    CAST(unit_pairs.unit_b % 4294967296 AS INT) AS sent_b,
    unit_pairs.similarity,
    weights.weight
FROM unit_pairs
JOIN weights ON unit_pairs.text_a = weights.text_a AND unit_pairs.text_b = weights.text_b
