-- reads:  plain.parquet(doc_id, text): plain documents
-- writes: documents(id, text): as sentences.sql, of whole documents, each text once
WITH copies AS (
    SELECT *, row_number() OVER (PARTITION BY text ORDER BY doc_id) AS copy
    FROM 'plain.parquet'
    WHERE cardinality(string_to_array(text, ' ')) >= 5
)
SELECT CAST(row_number() OVER (ORDER BY doc_id) AS BIGINT) AS id, text FROM copies WHERE copy = 1 ORDER BY id
