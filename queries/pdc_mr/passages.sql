-- reads:  pairs(id_a, sent_a, id_b, sent_b, similarity): similar sentences, as pairs('corpus/', unit => 'sentence') has them
-- writes: nothing; gives doc_a, doc_b and the run of each maximal diagonal of at least $min_sentences pairs of sentences: the
--         passages of PDC-MR (Zhang et al. 2010, algorithm 2)
SELECT
    id_a AS doc_a,
    id_b AS doc_b,
    run['sent_a_start'] AS sent_a_start,
    run['sent_b_start'] AS sent_b_start,
    run['sentences'] AS sentences
FROM (
    SELECT id_a, id_b, unnest(diagonals(sent_a, sent_b, similarity, $min_sentences, 0)) AS run FROM pairs GROUP BY id_a, id_b
)
ORDER BY 1, 2, 3, 4
