-- reads:  scores(doc_a, doc_b, score, score_back), twins(doc, twin)
-- writes: scores: those but of a document of both collections in itself
CREATE OR REPLACE TABLE scores AS
SELECT scores.* FROM scores LEFT ANTI JOIN twins ON scores.doc_a = twins.twin AND scores.doc_b = twins.doc
