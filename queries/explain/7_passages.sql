-- reads:  fingerprints(fingerprint), frequencies(fingerprint, places, common)
-- writes: one row: how many pairs of places the fingerprints make that are not common, how many these are, how many are common, and
--         how many in a hundred places are of these
SELECT
    CAST(coalesce(sum(CASE WHEN common THEN 0 ELSE places * (places - 1) / 2 END), 0) AS BIGINT) AS pairs,
    count(*) FILTER (WHERE NOT common) AS rare,
    count(*) FILTER (WHERE common) AS common,
    coalesce(
        100 * CAST(sum(CASE WHEN common THEN places ELSE 0 END) AS BIGINT)
        / nullif((SELECT count(*) FROM fingerprints), 0),
        0
    ) AS share
FROM frequencies
