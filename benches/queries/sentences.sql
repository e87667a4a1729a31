-- reads:  corpus/sentences.parquet
-- writes: sentences(id, text): words of a to z and 0 to 9 with one space between them, five or more; a text at most three
--         times, lest the pairs be mostly copies of a few banners; ids from 1 in the order of documents
WITH plain AS (
    SELECT doc_id, sent, trim(regexp_replace(lower(text), '[^a-z0-9]+', ' ', 'g')) AS text
    FROM 'corpus/sentences.parquet'
),
copies AS (
    SELECT *, row_number() OVER (PARTITION BY text ORDER BY doc_id, sent) AS copy
    FROM plain
    WHERE cardinality(string_to_array(text, ' ')) >= 5
)
SELECT CAST(row_number() OVER (ORDER BY doc_id, sent) AS BIGINT) AS id, text FROM copies WHERE copy <= 3 ORDER BY id
