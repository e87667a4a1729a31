-- reads:  clustered(cluster_id)
-- writes: histogram(size, clusters, places): how many clusters of each size there are
SELECT size, count(*) AS clusters, size * count(*) AS places
FROM (SELECT cluster_id, count(*) AS size FROM clustered GROUP BY cluster_id)
GROUP BY size
ORDER BY size
