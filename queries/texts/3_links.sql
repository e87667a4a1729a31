-- reads:  texts(text_id, set, units, against_units)
-- writes: links(text_a, text_b, similarity): the near-duplicates among distinct texts
CREATE TABLE links AS
SELECT a.text_id AS text_a, b.text_id AS text_b, jaccard(a.set, b.set) AS similarity
FROM texts AS a
JOIN texts AS b
    ON jaccard(a.set, b.set) >= $threshold
    AND a.text_id < b.text_id
    -- Of two collections, a text of the one and a text of the other.
    AND (
        NOT $against
        OR (a.units > a.against_units AND b.against_units > 0)
        OR (a.against_units > 0 AND b.units > b.against_units)
    )
