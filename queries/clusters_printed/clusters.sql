-- reads:  clustered(cluster_id, unit, doc, text_id, representative), units(unit, text)
-- writes: the $top largest clusters, with the beginning of the representative text
WITH largest AS (
    SELECT
        cluster_id,
        min(representative) AS representative,
        count(*) AS places,
        count(DISTINCT doc) AS documents,
        count(DISTINCT text_id) AS texts
    FROM clustered
    GROUP BY cluster_id
    ORDER BY places DESC, cluster_id
    LIMIT $top
)
SELECT largest.places, largest.documents, largest.texts, substr(regexp_replace(units.text, '[[:cntrl:][:space:]]+', ' ', 'g'), 1, 80) AS text
FROM largest JOIN units ON largest.representative = units.unit
ORDER BY largest.places DESC, largest.cluster_id
