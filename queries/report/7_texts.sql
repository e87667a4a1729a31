-- reads:  $documents(doc_id, text, …), whose text is $text, chosen(side, doc_id)
-- writes: the documents of collection $side that the report has, with all columns and the time
SELECT CAST(doc_id AS VARCHAR) AS report_id, CAST($seconds AS DOUBLE) AS report_seconds, $text AS report_text, *
FROM $documents
WHERE CAST(doc_id AS VARCHAR) IN (SELECT doc_id FROM chosen WHERE side = $side)
