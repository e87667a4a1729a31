-- reads:  scores(doc_a, doc_b, score, score_back), shared(doc_a, doc_b, sentences), docs(doc, doc_id)
-- writes: contained, container, the share of the first that is in the second, of the second that is in the first, and the shared
--         sentences
SELECT
    a.doc_id AS contained,
    b.doc_id AS container,
    scores.score,
    scores.score_back,
    coalesce(shared.sentences, 0) AS sentences
FROM scores
JOIN docs AS a ON scores.doc_a = a.doc
JOIN docs AS b ON scores.doc_b = b.doc
LEFT JOIN shared ON scores.doc_a = shared.doc_a AND scores.doc_b = shared.doc_b
ORDER BY scores.doc_a, scores.doc_b
