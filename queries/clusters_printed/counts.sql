-- reads:  clustered(cluster_id)
-- writes: one row: how many clusters there are, and in how many places
SELECT count(DISTINCT cluster_id) AS clusters, count(*) AS places FROM clustered
