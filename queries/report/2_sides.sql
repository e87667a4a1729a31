-- reads:  documents(doc_id, text, …), against_documents(doc_id, text, …), whose text is $text
-- writes: sides(side, doc_id, characters, seconds): the documents of both collections, with the times $seconds and $against_seconds
CREATE TABLE sides AS
SELECT 0 AS side, CAST(doc_id AS VARCHAR) AS doc_id, character_length($text) AS characters, CAST($seconds AS DOUBLE) AS seconds
FROM documents
UNION ALL
SELECT 1 AS side, CAST(doc_id AS VARCHAR) AS doc_id, character_length($text) AS characters, CAST($against_seconds AS DOUBLE) AS seconds
FROM against_documents
