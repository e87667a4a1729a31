-- reads:  documents(doc_id, text), added_documents(doc_id, text, …)
-- writes: left_out(doc_id, reason): the documents of the batch that are not to be added: 'known' to the index already, 'changed'
--         where its text is another there, 'timeless' where $seconds, the time, is not known
CREATE TABLE left_out AS
SELECT
    batch.doc_id,
    CASE WHEN known.doc_id IS NULL THEN 'timeless' WHEN known.text = batch.text THEN 'known' ELSE 'changed' END AS reason
FROM (SELECT doc_id, text, $seconds AS seconds FROM added_documents) AS batch
LEFT JOIN (SELECT doc_id, text FROM documents) AS known ON batch.doc_id = known.doc_id
-- For times outside this range, microseconds would not fit 64 bits.
WHERE known.doc_id IS NOT NULL OR NOT coalesce(abs(batch.seconds) < 9e12, false)
