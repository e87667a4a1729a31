-- reads:  common(pairs, frequent)
-- writes: one row: how many pairs of places start passages
SELECT CAST(coalesce(sum(pairs), 0) AS BIGINT) AS pairs FROM common WHERE NOT frequent
