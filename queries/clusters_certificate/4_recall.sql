-- reads:  certificate(pairs, found)
-- writes: one row: how many pairs the sample has, and how many of them were found
SELECT CAST(coalesce(sum(pairs), 0) AS BIGINT) AS pairs, CAST(coalesce(sum(found), 0) AS BIGINT) AS found FROM certificate
