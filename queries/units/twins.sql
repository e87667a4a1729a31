-- reads:  docs(doc, side, doc_id), documents(doc_id, text), against_documents(doc_id, text), origins(doc_id, file, record),
--         against_origins(doc_id, file, record)
-- writes: twins(doc, twin): each document of the other collection that stands in the first one, too, as the same record of the same
--         file with the same text; and its number there. None where a document is to be compared with itself, $within_documents
CREATE TABLE twins AS
WITH places AS (
    SELECT own.doc_id AS own_id, other.doc_id AS other_id
    FROM origins AS own JOIN against_origins AS other ON own.file = other.file AND own.record = other.record
    WHERE NOT $within_documents
)
SELECT other.doc, own.doc AS twin
FROM places
JOIN (SELECT doc_id, sha256(text) AS hash FROM documents) AS a ON places.own_id = a.doc_id
JOIN (SELECT doc_id, sha256(text) AS hash FROM against_documents) AS b ON places.other_id = b.doc_id AND a.hash = b.hash
JOIN docs AS own ON places.own_id = own.doc_id AND own.side = 0
JOIN docs AS other ON places.other_id = other.doc_id AND other.side = 1
