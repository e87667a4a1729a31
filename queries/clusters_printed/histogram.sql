-- reads:  clustered(cluster_id)
-- writes: how many clusters and places there are of some sizes
SELECT sizes, count(*) AS clusters, sum(size) AS places
FROM (
    SELECT
        size,
        CASE
            WHEN size <= 5 THEN CAST(size AS VARCHAR)
            WHEN size <= 10 THEN '6 to 10'
            WHEN size <= 30 THEN '11 to 30'
            WHEN size <= 100 THEN '31 to 100'
            WHEN size <= 1000 THEN '101 to 1,000'
            ELSE 'over 1,000'
        END AS sizes
    FROM (SELECT count(*) AS size FROM clustered GROUP BY cluster_id)
)
GROUP BY sizes
ORDER BY min(size)
