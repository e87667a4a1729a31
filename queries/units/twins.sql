-- reads:  docs(doc, side, doc_id), documents(doc_id, text), against_documents(doc_id, text)
-- writes: twins(doc, twin): each document of the other collection that stands in the first one, too, with the same id and
--         the same text, and its number there; none where a document is to be compared with itself, $within_documents, or
--         with one collection
CREATE TABLE twins AS
SELECT other.doc, own.doc AS twin
FROM (SELECT doc_id, sha256(text) AS hash FROM documents) AS a
JOIN (SELECT doc_id, sha256(text) AS hash FROM against_documents) AS b ON a.doc_id = b.doc_id AND a.hash = b.hash
JOIN docs AS own ON a.doc_id = own.doc_id AND own.side = 0
JOIN docs AS other ON b.doc_id = other.doc_id AND other.side = 1
WHERE $against AND NOT $within_documents
