-- reads:  docs(doc, side, doc_id), documents(doc_id, text), against_documents(doc_id, …)
-- writes: compared_texts(doc, side, text): the texts of the documents, side 0, and of the items, side 1, which are the columns $columns
CREATE VIEW compared_texts AS
SELECT docs.doc, docs.side, documents.text
FROM documents JOIN docs ON documents.doc_id = docs.doc_id AND docs.side = 0
UNION ALL
SELECT docs.doc, docs.side, items.text
FROM (SELECT doc_id, concat_ws(chr(10), $columns) AS text FROM against_documents) AS items
JOIN docs ON items.doc_id = docs.doc_id AND docs.side = 1
