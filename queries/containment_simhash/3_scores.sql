-- reads:  near(doc_a, doc_b, score)
-- writes: scores(doc_a, doc_b, score, score_back): the same both ways
CREATE TABLE scores AS
SELECT doc_a, doc_b, score, score AS score_back FROM near
UNION ALL
SELECT doc_b AS doc_a, doc_a AS doc_b, score, score AS score_back FROM near WHERE NOT $against
