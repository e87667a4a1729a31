-- reads:  scores(doc_a, doc_b, score, score_back), shared(doc_a, doc_b, sentences), placed(doc_a, doc_b, run), docs(doc, doc_id)
-- writes: the result of containment/7_result.sql, and for each row the passages, a of the contained, b of the container
WITH located AS (
    -- An array_agg with ORDER BY would count each struct with the memory of the whole batch that it comes from.
    SELECT doc_a, doc_b, array_sort(array_agg(run)) AS passages FROM placed GROUP BY doc_a, doc_b
)
SELECT
    a.doc_id AS contained,
    b.doc_id AS container,
    scores.score,
    scores.score_back,
    coalesce(shared.sentences, 0) AS sentences,
    coalesce(located.passages, []) AS passages
FROM scores
JOIN docs AS a ON scores.doc_a = a.doc
JOIN docs AS b ON scores.doc_b = b.doc
LEFT JOIN shared ON scores.doc_a = shared.doc_a AND scores.doc_b = shared.doc_b
LEFT JOIN located ON scores.doc_a = located.doc_a AND scores.doc_b = located.doc_b
ORDER BY scores.doc_a, scores.doc_b
