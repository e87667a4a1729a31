-- reads:  sampled(pairs, found)
-- writes: one row, over what was sampled: the sums of the pairs of each and of those found, and of their squares and products
SELECT
    CAST(coalesce(sum(pairs), 0) AS BIGINT) AS pairs,
    CAST(coalesce(sum(found), 0) AS BIGINT) AS found,
    CAST(coalesce(sum(pairs * pairs), 0) AS BIGINT) AS pairs_squared,
    CAST(coalesce(sum(pairs * found), 0) AS BIGINT) AS pairs_found,
    CAST(coalesce(sum(found * found), 0) AS BIGINT) AS found_squared
FROM sampled
