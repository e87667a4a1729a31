-- reads:  texts(text_id, set, units, against_units)
-- writes: contained_texts(text_a, text_b): the sentences of which a share of at least $least is in another; a sentence that stands
--         in several places is in itself
CREATE TABLE contained_texts AS
SELECT a.text_id AS text_a, b.text_id AS text_b
FROM (SELECT * FROM texts WHERE NOT $against OR units > against_units) AS a
JOIN (SELECT * FROM texts WHERE NOT ($against OR $add) OR against_units > 0) AS b
    ON containment(a.set, b.set) >= $least
    AND a.text_id <> b.text_id
UNION ALL
-- For two collections, or if documents are added, the other direction, too.
SELECT a.text_id AS text_a, b.text_id AS text_b
FROM (SELECT * FROM texts WHERE ($against OR $add) AND against_units > 0) AS a
JOIN (SELECT * FROM texts WHERE ($against AND units > against_units) OR ($add AND against_units = 0)) AS b
    ON containment(a.set, b.set) >= $least
    AND a.text_id <> b.text_id
UNION ALL
SELECT text_id AS text_a, text_id AS text_b FROM texts WHERE units > 1 AND (NOT $add OR against_units > 0)
