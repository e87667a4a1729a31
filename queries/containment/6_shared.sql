-- reads:  scores(doc_a, doc_b), found_sentences(doc, words)
-- writes: shared(doc_a, doc_b, sentences): how many of the distinct sentences of the contained document the container has word
--         for word
CREATE TABLE shared AS
SELECT scores.doc_a, scores.doc_b, count(*) AS sentences
FROM scores
JOIN found_sentences AS a ON scores.doc_a = a.doc
JOIN found_sentences AS b ON scores.doc_b = b.doc AND a.words = b.words
GROUP BY scores.doc_a, scores.doc_b
