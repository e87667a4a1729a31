-- reads:  candidates(doc_a, doc_b, a similarity for each field), docs(doc, doc_id)
-- writes: pairs(doc_a, doc_b, id_a, id_b, score, a similarity for each field): the near-duplicate threads; the score is the
--         weighted mean of the similarities. A thread of both collections is no duplicate of itself
CREATE TABLE pairs AS
SELECT candidates.doc_a, candidates.doc_b, a.doc_id AS id_a, b.doc_id AS id_b, $score AS score, $names
FROM candidates JOIN docs AS a ON candidates.doc_a = a.doc JOIN docs AS b ON candidates.doc_b = b.doc
WHERE $score >= $threshold AND a.doc_id <> b.doc_id
