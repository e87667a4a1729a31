-- reads:  members(text_id, representative, similarity), texts(text_id, units), occurrences(text_id, unit, doc)
-- writes: clustered(cluster_id, unit, doc, text_id, representative, similarity): each place of the clusters of two places and
--         more; cluster_id is the first place of a cluster
CREATE TABLE clustered AS
WITH clusters AS (
    -- A text is named by its first place.
    SELECT members.representative, min(members.text_id) AS cluster_id
    FROM members JOIN (SELECT text_id, units FROM texts) AS texts ON members.text_id = texts.text_id
    GROUP BY members.representative
    HAVING sum(texts.units) > 1
)
SELECT
    clusters.cluster_id,
    occurrences.unit,
    occurrences.doc,
    members.text_id,
    members.representative,
    members.similarity
FROM clusters
JOIN members ON clusters.representative = members.representative
JOIN occurrences ON members.text_id = occurrences.text_id
