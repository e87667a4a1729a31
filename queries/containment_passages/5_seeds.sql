-- reads:  common(doc_a, doc_b, text_a, frequent), places(doc, place, text), alike(text_a, text_b)
-- writes: seeds(doc_a, place_a, doc_b, place_b): the pairs of places that may start a passage
CREATE TABLE seeds AS
SELECT common.doc_a, a.place AS place_a, common.doc_b, b.place AS place_b
FROM common
JOIN places AS a ON common.doc_a = a.doc AND common.text_a = a.text
JOIN alike ON common.text_a = alike.text_a
JOIN places AS b ON common.doc_b = b.doc AND alike.text_b = b.text
WHERE NOT common.frequent
