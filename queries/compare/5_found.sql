-- reads:  scores(doc_a, doc_b, score, score_back)
-- writes: what was found, in order
SELECT doc_a, doc_b, score, score_back FROM scores ORDER BY doc_a, doc_b
