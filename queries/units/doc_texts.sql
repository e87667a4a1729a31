-- reads:  docs, documents(doc_id, text), against_documents(doc_id, text)
-- writes: doc_texts(doc, text)
CREATE VIEW doc_texts AS
SELECT docs.doc, documents.text
FROM documents JOIN docs ON documents.doc_id = docs.doc_id AND docs.side = 0
UNION ALL
SELECT docs.doc, against_documents.text
FROM against_documents JOIN docs ON against_documents.doc_id = docs.doc_id AND docs.side = 1
