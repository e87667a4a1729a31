-- reads:  scores(doc_a, doc_b), doc_sentences(doc, words)
-- writes: shared(doc_a, doc_b, sentences): how many of the distinct sentences of the contained document the container has word
--         for word
CREATE TABLE shared AS
WITH ends AS (
    SELECT doc_a AS doc FROM scores UNION SELECT doc_b AS doc FROM scores
),
sentences AS (
    SELECT doc_sentences.* FROM doc_sentences LEFT SEMI JOIN ends ON doc_sentences.doc = ends.doc
)
SELECT scores.doc_a, scores.doc_b, count(*) AS sentences
FROM scores
JOIN sentences AS a ON scores.doc_a = a.doc
JOIN sentences AS b ON scores.doc_b = b.doc AND a.words = b.words
GROUP BY scores.doc_a, scores.doc_b
