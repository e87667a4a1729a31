-- reads:  target/demo/corpus/documents.parquet, target/demo/corpus/sentences.parquet
-- writes: the sentences that stand, with the same words, under the most names of licences
SELECT
    count(DISTINCT split_part(family, '-', 1)) AS names,
    count(*) AS places,
    substr(regexp_replace(first_value(s.text ORDER BY length(s.text), s.text), '\s+', ' ', 'g'), 1, 94) AS sentence
FROM 'target/demo/corpus/sentences.parquet' AS s
JOIN 'target/demo/corpus/documents.parquet' AS d ON s.doc_id = d.doc_id
WHERE cardinality(words(s.text)) >= 6
GROUP BY words(normalize(s.text))
ORDER BY names DESC, places DESC, sentence
LIMIT 8;
