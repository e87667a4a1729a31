-- reads:  documents(doc_id, text), docs(doc, doc_id)
-- writes: pieces(doc, piece, text): what is compared, here whole documents
CREATE VIEW pieces AS
SELECT docs.doc, CAST(0 AS INT) AS piece, documents.text FROM documents JOIN docs ON documents.doc_id = docs.doc_id
