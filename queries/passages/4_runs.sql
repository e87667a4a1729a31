-- reads:  seeds and extensions(doc_a, sent_a, doc_b, sent_b, similarity, weight)
-- writes: runs(doc_a, doc_b, run): the runs of at least $min_sentences matching sentences with gaps of at most $max_gap
--         that weigh at least $min_weight
CREATE TABLE runs AS
SELECT doc_a, doc_b, run
FROM (
    SELECT doc_a, doc_b, unnest(diagonals(sent_a, sent_b, similarity, seed, weight, $min_sentences, $max_gap)) AS run
    FROM (
        SELECT doc_a, sent_a, doc_b, sent_b, similarity, true AS seed, weight FROM seeds
        UNION ALL
        SELECT doc_a, sent_a, doc_b, sent_b, similarity, false AS seed, weight FROM extensions
    )
    GROUP BY doc_a, doc_b
)
WHERE run['weight'] >= $min_weight
