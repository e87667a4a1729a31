-- reads:  labels(id_a, id_b, label), docs(doc, side, doc_id)
-- writes: candidates(doc_a, doc_b, label): the labelled pairs whose threads are there
CREATE TABLE candidates AS
SELECT a.doc AS doc_a, b.doc AS doc_b, labels.label
FROM labels
JOIN docs AS a ON labels.id_a = a.doc_id AND a.side = 0
JOIN docs AS b ON labels.id_b = b.doc_id AND b.side = CAST($against AS INT)
WHERE labels.label IS NOT NULL
