-- reads:  matches(text_a, text_b), texts(text_id, set), signatures(set)
-- writes: weights(text_a, text_b, weight): how much rare material two matching texts share, as shared_weight says, but such that
--         all can go to disk
CREATE TABLE weights AS
WITH repeated AS (
    SELECT element, count(*) AS frequency FROM (SELECT unnest(set) AS element FROM signatures) GROUP BY element HAVING count(*) > 1
),
shared AS (
    SELECT matches.text_a, matches.text_b, unnest(array_intersect(a.set, b.set)) AS element
    FROM matches JOIN texts AS a ON matches.text_a = a.text_id JOIN texts AS b ON matches.text_b = b.text_id
),
idf AS (
    SELECT text_a, text_b, 1 - coalesce(ln(frequency) / nullif(ln((SELECT count(set) FROM signatures)), 0), 0) AS idf
    FROM shared LEFT JOIN repeated ON shared.element = repeated.element
)
-- The sum of decimal numbers does not depend on their order. An element that is not repeated has an idf of 1.
SELECT text_a, text_b, CAST(sum(CAST(idf AS DECIMAL(38, 15))) AS DOUBLE) AS weight
FROM idf
GROUP BY text_a, text_b
