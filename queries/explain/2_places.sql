-- reads:  texts(text_id, units, against_units), text_pairs(text_id, pairs)
-- writes: places(text_id, places, pairs): in how many places each text of the sample stands in all collections, and how many
--         pairs of places it stands for: both of a pair had to be in the sample
CREATE TABLE places AS
SELECT
    texts.text_id,
    CAST((texts.units - texts.against_units) * $every + texts.against_units * $against_every AS BIGINT) AS places,
    CAST(coalesce(text_pairs.pairs, 0) * $every * CASE WHEN $against THEN $against_every ELSE $every END AS BIGINT) AS pairs
FROM texts LEFT JOIN text_pairs ON texts.text_id = text_pairs.text_id
