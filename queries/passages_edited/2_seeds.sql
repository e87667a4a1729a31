-- reads:  unit_pairs(doc_a, unit_a, text_a, doc_b, unit_b, similarity), texts(text_id, set)
-- writes: seeds(doc_a, doc_b, seeds): for each pair of documents the sentences that share enough to found a passage
CREATE TABLE seeds AS
SELECT
    unit_pairs.doc_a,
    unit_pairs.doc_b,
    array_agg(named_struct(
        'sent_a', CAST(unit_pairs.unit_a % 4294967296 AS INT), 'sent_b', CAST(unit_pairs.unit_b % 4294967296 AS INT)
    )) AS seeds
FROM unit_pairs JOIN texts ON unit_pairs.text_a = texts.text_id
-- Two equal texts may be too short to share $min_overlap elements.
WHERE cardinality(texts.set) >= $min_overlap
GROUP BY unit_pairs.doc_a, unit_pairs.doc_b
