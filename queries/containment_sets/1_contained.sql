-- reads:  texts(text_id, set, units, against_units)
-- writes: contained_texts(text_a, text_b, score, score_back): the texts of which a share of at least $least is in another, each
--         with the share of the other that is in it; a text that stands in several places is in itself; where documents are
--         added, $add, what one of them has
CREATE TABLE contained_texts AS
SELECT
    a.text_id AS text_a,
    b.text_id AS text_b,
    containment(a.set, b.set) AS score,
    containment(b.set, a.set) AS score_back
-- For two collections, the contained text is from the first one and the container from the second one.
FROM (SELECT * FROM texts WHERE NOT $against OR units > against_units) AS a
JOIN (SELECT * FROM texts WHERE NOT ($against OR $add) OR against_units > 0) AS b
    ON containment(a.set, b.set) >= $least
    AND a.text_id <> b.text_id
UNION ALL
SELECT
    a.text_id AS text_a,
    b.text_id AS text_b,
    containment(a.set, b.set) AS score,
    containment(b.set, a.set) AS score_back
FROM (SELECT * FROM texts WHERE $add AND against_units > 0) AS a
JOIN (SELECT * FROM texts WHERE $add AND against_units = 0) AS b
    ON containment(a.set, b.set) >= $least
UNION ALL
SELECT text_id AS text_a, text_id AS text_b, CAST(1 AS DOUBLE) AS score, CAST(1 AS DOUBLE) AS score_back
FROM texts
WHERE units > 1 AND (NOT $add OR against_units > 0)
