-- reads:  matches(text_a, text_b), texts(text_id, set), signatures(set)
-- writes: weights(text_a, text_b, weight): how much rare material two matching texts share
CREATE TABLE weights AS
WITH repeated AS (
    SELECT element, count(*) AS frequency FROM (SELECT unnest(set) AS element FROM signatures) GROUP BY element HAVING count(*) > 1
)
SELECT
    matches.text_a,
    matches.text_b,
    shared_weight(
        a.set,
        b.set,
        (SELECT frequency_table(element, frequency, sets) FROM repeated CROSS JOIN (SELECT count(set) AS sets FROM signatures))
    ) AS weight
FROM matches JOIN texts AS a ON matches.text_a = a.text_id JOIN texts AS b ON matches.text_b = b.text_id
