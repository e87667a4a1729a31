-- reads:  texts(text_id), units(unit, text)
-- writes: the words that most distinct texts have: in what share of the texts they are, and their share of all pairs of texts
--         that share a word, once for each word that they share
WITH tokens AS (
    SELECT unnest(array_distinct(words(normalize(units.text)))) AS word
    FROM texts JOIN units ON texts.text_id = units.unit
),
counted AS (
    SELECT word, CAST(count(*) AS DOUBLE) AS texts FROM tokens GROUP BY word
)
SELECT
    word,
    round(texts / (SELECT count(*) FROM texts), 4) AS share_of_texts,
    round(texts * (texts - 1) / sum(texts * (texts - 1)) OVER (), 4) AS share_of_pairs
FROM counted
ORDER BY texts DESC, word
LIMIT 10
