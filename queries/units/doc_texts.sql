-- reads:  docs, documents(doc_id, text), against_documents(doc_id, text)
-- writes: doc_texts(doc, side, text): the texts of all documents
CREATE VIEW doc_texts AS
SELECT docs.doc, docs.side, documents.text
FROM documents JOIN docs ON documents.doc_id = docs.doc_id AND docs.side = 0
UNION ALL
SELECT docs.doc, docs.side, against_documents.text
FROM against_documents JOIN docs ON against_documents.doc_id = docs.doc_id AND docs.side = 1
