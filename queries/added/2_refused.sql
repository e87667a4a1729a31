-- reads:  left_out(doc_id, reason), added_documents(doc_id, text)
-- writes: the documents that cannot be added, and why
SELECT left_out.doc_id, left_out.reason, batch.text
FROM left_out JOIN (SELECT doc_id, text FROM added_documents) AS batch ON left_out.doc_id = batch.doc_id
WHERE left_out.reason <> 'known'
ORDER BY left_out.doc_id
