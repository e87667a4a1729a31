-- reads:  shares(doc_a, side_a, doc_b, score)
-- writes: scores(doc_a, doc_b, score, score_back): the share of a document that is in another, and the other way round
CREATE TABLE scores AS
SELECT there.doc_a, there.doc_b, there.score, coalesce(back.score, 0) AS score_back
FROM shares AS there
LEFT JOIN shares AS back ON there.doc_a = back.doc_b AND there.doc_b = back.doc_a
WHERE there.score >= $threshold AND (NOT $against OR there.side_a = 0)
