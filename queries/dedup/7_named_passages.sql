-- reads:  passages(passage, doc, piece, position), docs(doc, doc_id)
-- writes: named(unit, doc_id, doc, piece, position): each of them with the id of its document
CREATE VIEW named AS
SELECT passages.passage AS unit, docs.doc_id, passages.doc, passages.piece, passages.position
FROM passages JOIN docs ON passages.doc = docs.doc
