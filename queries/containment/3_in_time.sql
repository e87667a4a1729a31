-- reads:  scores(doc_a, doc_b, score, score_back), times(doc, seconds)
-- writes: scores: those whose container came before, at most $within seconds; of documents that came together, the first by id;
--         and those whose container came later, if $later
CREATE OR REPLACE TABLE scores AS
SELECT scores.*
FROM scores JOIN times AS a ON scores.doc_a = a.doc JOIN times AS b ON scores.doc_b = b.doc
WHERE abs(a.seconds - b.seconds) <= $within
    AND ($later OR b.seconds < a.seconds OR (b.seconds = a.seconds AND b.doc < a.doc))
