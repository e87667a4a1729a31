-- reads:  ranks(unit, doc, piece, position), docs(doc, doc_id)
-- writes: named(unit, doc_id, doc, piece, position): each piece with the id of its document
CREATE VIEW named AS
SELECT ranks.unit, docs.doc_id, ranks.doc, ranks.piece, ranks.position FROM ranks JOIN docs ON ranks.doc = docs.doc
