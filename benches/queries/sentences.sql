-- reads:  plain.parquet(doc_id, sent, text): plain sentences
-- writes: sentences(id, text): those of five words or more; a text at most three times, lest the pairs be mostly copies of a
--         few banners; ids from 1 in the order of documents
WITH copies AS (
    SELECT *, row_number() OVER (PARTITION BY text ORDER BY doc_id, sent) AS copy
    FROM 'plain.parquet'
    WHERE cardinality(string_to_array(text, ' ')) >= 5
)
SELECT CAST(row_number() OVER (ORDER BY doc_id, sent) AS BIGINT) AS id, text FROM copies WHERE copy <= 3 ORDER BY id
