-- reads:  unit_pairs(doc_a, unit_a, doc_b, unit_b, similarity)
-- writes: seeds(doc_a, sent_a, doc_b, sent_b, similarity): the matching sentences that may found a passage
CREATE TABLE seeds AS
SELECT
    doc_a,
    CAST(unit_a % 4294967296 AS INT) AS sent_a,
    doc_b,
    CAST(unit_b % 4294967296 AS INT) AS sent_b,
    similarity
FROM unit_pairs
