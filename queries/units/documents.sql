-- reads:  docs, documents(doc_id, text), against_documents(doc_id, text)
-- writes: units(unit, side, doc, text): the texts to compare, here whole documents
CREATE OR REPLACE VIEW units AS
SELECT docs.doc * 4294967296 AS unit, docs.side, docs.doc, documents.text
FROM documents JOIN docs ON documents.doc_id = docs.doc_id AND docs.side = 0
UNION ALL
SELECT docs.doc * 4294967296 AS unit, docs.side, docs.doc, against_documents.text
FROM against_documents JOIN docs ON against_documents.doc_id = docs.doc_id AND docs.side = 1
