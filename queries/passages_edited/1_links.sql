-- reads:  texts(text_id, set, units, against_units)
-- writes: links(text_a, text_b, similarity): the distinct texts that share at least $min_overlap rare pairs of words,
--         those of at most $max_pair_frequency distinct texts
CREATE TABLE links AS
WITH rare AS (
    SELECT
        text_id,
        units,
        against_units,
        rare_elements(set, (SELECT set_frequencies(set) FROM texts), $max_pair_frequency) AS set
    FROM texts
)
SELECT a.text_id AS text_a, b.text_id AS text_b, jaccard(a.set, b.set) AS similarity
-- For two collections, a text of each, and only once if both collections have both texts. If documents are added, any text
-- and one that a new document has.
FROM (SELECT * FROM rare WHERE NOT $against OR units > against_units) AS a
JOIN (SELECT * FROM rare WHERE NOT ($against OR $add) OR against_units > 0) AS b
    ON overlap(a.set, b.set) >= $min_overlap
    AND (
        a.text_id < b.text_id
        OR ($add AND a.text_id > b.text_id AND a.against_units = 0)
        OR ($against AND a.text_id > b.text_id AND (a.against_units = 0 OR b.units = b.against_units))
    )
