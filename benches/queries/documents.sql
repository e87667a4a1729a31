-- reads:  corpus/documents.parquet
-- writes: documents(id, text): as sentences.sql, of whole documents, each text once
WITH plain AS (
    SELECT doc_id, trim(regexp_replace(lower(text), '[^a-z0-9]+', ' ', 'g')) AS text FROM 'corpus/documents.parquet'
),
copies AS (
    SELECT *, row_number() OVER (PARTITION BY text ORDER BY doc_id) AS copy
    FROM plain
    WHERE cardinality(string_to_array(text, ' ')) >= 5
)
SELECT CAST(row_number() OVER (ORDER BY doc_id) AS BIGINT) AS id, text FROM copies WHERE copy = 1 ORDER BY id
