-- reads:  texts(text_id), units(unit, text)
-- writes: the words that most distinct texts have: the share of texts that have them, and of pairs of texts that share them
WITH tokens AS (
    SELECT unnest(array_distinct(words(normalize(units.text)))) AS word
    FROM texts JOIN units ON texts.text_id = units.unit
),
counted AS (
    SELECT word, CAST(count(*) AS DOUBLE) AS texts FROM tokens GROUP BY word
),
every AS (
    SELECT CAST(count(*) AS DOUBLE) AS texts FROM texts
)
SELECT
    counted.word,
    round(counted.texts / every.texts, 4) AS share_of_texts,
    round(coalesce(counted.texts * (counted.texts - 1) / nullif(every.texts * (every.texts - 1), 0), 0), 4) AS share_of_pairs
FROM counted CROSS JOIN every
ORDER BY counted.texts DESC, counted.word
LIMIT 10
