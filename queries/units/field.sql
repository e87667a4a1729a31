-- reads:  docs, documents(doc_id, …), against_documents(doc_id, …)
-- writes: units(unit, side, doc, text): the texts to compare, here one field of each document, the columns $columns; '' where
--         it has none
CREATE OR REPLACE VIEW units AS
SELECT docs.doc * 4294967296 AS unit, docs.side, docs.doc, own.text
FROM (SELECT doc_id, concat_ws(' ', $columns) AS text FROM documents) AS own
JOIN docs ON own.doc_id = docs.doc_id AND docs.side = 0
UNION ALL
SELECT docs.doc * 4294967296 AS unit, docs.side, docs.doc, other.text
FROM (SELECT doc_id, concat_ws(' ', $columns) AS text FROM against_documents) AS other
JOIN docs ON other.doc_id = docs.doc_id AND docs.side = 1
