-- reads:  numbered(doc_id, position), docs(doc, side, doc_id)
-- writes: positions(doc, position): the place of each document among all that were read
CREATE TABLE positions AS
SELECT docs.doc, numbered.position FROM numbered JOIN docs ON numbered.doc_id = docs.doc_id AND docs.side = 0
