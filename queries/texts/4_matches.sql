-- reads:  texts(text_id, units, against_units), links(text_a, text_b, similarity)
-- writes: matches(text_a, text_b, similarity, frequent): each text and its near-duplicates, both ways; frequent where
--         one of the two stands in more than $max_frequency places; where documents are added, $add, the matches that they have
CREATE TABLE matches AS
SELECT text_id AS text_a, text_id AS text_b, CAST(1 AS DOUBLE) AS similarity, units > $max_frequency AS frequent
FROM texts
WHERE units > 1 AND (NOT $add OR against_units > 0)
UNION ALL
SELECT links.text_a, links.text_b, links.similarity, greatest(a.units, b.units) > $max_frequency AS frequent
FROM links JOIN texts AS a ON links.text_a = a.text_id JOIN texts AS b ON links.text_b = b.text_id
UNION ALL
SELECT links.text_b AS text_a, links.text_a AS text_b, links.similarity, greatest(a.units, b.units) > $max_frequency AS frequent
FROM links JOIN texts AS a ON links.text_a = a.text_id JOIN texts AS b ON links.text_b = b.text_id
