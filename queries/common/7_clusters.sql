-- reads:  print_links(a, b), common(prints)
-- writes: clusters(members): one row: the cluster of each common fingerprint, those that are linked, and with them those of which
--         nine in ten places lie within places of the same other cluster
CREATE TABLE clusters AS
WITH nested AS (
    SELECT cluster_id, within, times, sum(times) OVER (PARTITION BY cluster_id) AS places
    FROM (
        SELECT run['cluster_id'] AS cluster_id, run['within'] AS within, count(*) AS times
        FROM (
            SELECT unnest(common_runs(prints, (SELECT connected_components(a, b) FROM print_links), $k, $bridge)) AS run
            FROM common
        )
        GROUP BY 1, 2
    )
)
SELECT connected_components(a, b) AS members
FROM (
    SELECT a, b FROM print_links
    UNION ALL
    SELECT cluster_id AS a, within AS b FROM nested WHERE within IS NOT NULL AND 10 * times >= 9 * places
)
