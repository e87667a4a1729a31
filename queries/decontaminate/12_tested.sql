-- reads:  items(item, length), grams(item, k, gram, word), met(k, gram, again)
-- writes: tested(item, words, is_tested, documents, share): the items, whether they were looked for, in how many documents that run of them
--         stands which stands in most, and the share of their words that stand in some document
CREATE TABLE tested AS
WITH frequencies AS (
    SELECT k, gram, count(*) AS documents FROM met WHERE NOT again GROUP BY k, gram
),
found AS (
    SELECT
        grams.item,
        grams.k,
        frequencies.documents,
        lead(grams.word) OVER (PARTITION BY grams.item ORDER BY grams.word) - grams.word AS step
    FROM grams JOIN frequencies ON grams.gram = frequencies.gram AND grams.k = frequencies.k
),
sums AS (
    SELECT item, max(documents) AS documents, sum(least(k, coalesce(step, k))) AS words FROM found GROUP BY item
)
SELECT
    items.item,
    items.length AS words,
    items.length >= $min_words AS is_tested,
    CAST(coalesce(sums.documents, 0) AS BIGINT) AS documents,
    coalesce(sums.words / CAST(items.length AS DOUBLE), 0) AS share
FROM sums RIGHT JOIN items ON sums.item = items.item
