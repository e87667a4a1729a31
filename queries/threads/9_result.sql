-- reads:  pairs(doc_a, doc_b, id_a, id_b, score, a similarity for each field)
-- writes: the pairs, with the ids of the threads
SELECT id_a, id_b, score, $names FROM pairs ORDER BY doc_a, doc_b
