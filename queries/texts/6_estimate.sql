-- reads:  matches(text_a, text_b, frequent), texts(text_id, units, against_units)
-- writes: one row: how many pairs of places the matches stand for, at most
SELECT
    CAST(coalesce(sum(CASE
        WHEN $against THEN (a.units - a.against_units) * b.against_units
        WHEN a.text_id = b.text_id THEN a.units * (a.units - 1) / 2
        WHEN a.text_id < b.text_id THEN a.units * b.units
        ELSE 0
    END), 0) AS BIGINT) AS pairs
FROM matches
JOIN texts AS a ON matches.text_a = a.text_id
JOIN texts AS b ON matches.text_b = b.text_id
WHERE NOT matches.frequent
