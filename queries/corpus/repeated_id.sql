-- reads:  documents(doc_id, text)
-- writes: one id that several documents have, if there is one
SELECT doc_id FROM documents GROUP BY doc_id HAVING count(*) > 1 ORDER BY doc_id LIMIT 1
