-- reads:  text_pairs(units, pairs)
-- writes: one row: how many pairs of places the matches stand for, at most
SELECT CAST(coalesce(sum(pairs), 0) AS BIGINT) AS pairs FROM text_pairs WHERE units <= $max_frequency
