-- reads:  seeds and extensions(doc_a, sent_a, doc_b, sent_b, similarity)
-- writes: runs(doc_a, doc_b, run): the runs of at least $min_sentences matching sentences with gaps of at most $max_gap
CREATE TABLE runs AS
SELECT doc_a, doc_b, unnest(diagonals(sent_a, sent_b, similarity, seed, $min_sentences, $max_gap)) AS run
FROM (
    SELECT doc_a, sent_a, doc_b, sent_b, similarity, true AS seed FROM seeds
    UNION ALL
    SELECT doc_a, sent_a, doc_b, sent_b, similarity, false AS seed FROM extensions
)
GROUP BY doc_a, doc_b
