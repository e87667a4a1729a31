-- reads:  candidates(doc_a, doc_b, a similarity for each field), docs(doc, doc_id)
-- writes: the groups: the thread to keep, a thread of its group, and the score of the two; 1 for the thread to keep itself
SELECT
    a.doc_id AS canonical,
    b.doc_id AS id,
    CASE WHEN candidates.doc_a = candidates.doc_b THEN 1 ELSE $score END AS score
FROM candidates JOIN docs AS a ON candidates.doc_a = a.doc JOIN docs AS b ON candidates.doc_b = b.doc
ORDER BY candidates.doc_a, candidates.doc_b
