-- reads:  units(unit, side, doc, text)
-- writes: signatures(unit, side, doc, set): the pairs of words at most $distance apart, in any order, without the words
--         that stand in more than one in fifty units
CREATE OR REPLACE TABLE signatures AS
WITH stop_words AS (
    SELECT word
    FROM (SELECT unnest(array_distinct(words(normalize(text)))) AS word FROM units)
    GROUP BY word
    HAVING count(*) > greatest(20, (SELECT count(*) FROM units) / 50)
)
SELECT
    unit,
    side,
    doc,
    skip_bigrams(
        without_tokens(words(normalize(text)), (SELECT coalesce(array_agg(word ORDER BY word), []) FROM stop_words)),
        $distance
    ) AS set
FROM units
