-- reads:  scores(doc_a, doc_b), places(doc, text), alike(text_a, text_b)
-- writes: common(doc_a, doc_b, text_a, pairs, frequent): for each contained document and its container the sentences of the first
--         that are in the second, in how many pairs of places, and whether these are more than $max_frequency
CREATE TABLE common AS
WITH counted AS (
    SELECT doc, text, count(*) AS places FROM places GROUP BY doc, text
)
SELECT doc_a, doc_b, text_a, sum(pairs) AS pairs, sum(pairs) > $max_frequency AS frequent
FROM (
    SELECT scores.doc_a, scores.doc_b, a.text AS text_a, a.places * b.places AS pairs
    FROM scores
    JOIN counted AS a ON scores.doc_a = a.doc
    JOIN alike ON a.text = alike.text_a
    JOIN counted AS b ON scores.doc_b = b.doc AND alike.text_b = b.text
)
GROUP BY doc_a, doc_b, text_a
