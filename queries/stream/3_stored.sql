-- reads:  documents(doc_id, text, …)
-- writes: the documents of an index as they would arrive
SELECT doc_id, text, $time_as_text AS time FROM documents
