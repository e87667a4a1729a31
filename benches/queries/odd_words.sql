-- reads:  sentences.parquet, documents.parquet
-- writes: how many texts have other words for ibid than for tools that cut at spaces, which must be none
SELECT count(*) AS odd
FROM (SELECT text FROM 'sentences.parquet' UNION ALL SELECT text FROM 'documents.parquet')
WHERE words(text) <> string_to_array(text, ' ')
