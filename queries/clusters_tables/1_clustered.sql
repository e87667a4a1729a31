-- reads:  members(text_id, representative, similarity), occurrences(text_id, unit, doc)
-- writes: clustered(cluster_id, unit, doc, text_id, representative, similarity): each place of the clusters of two places and
--         more; cluster_id is the first place of a cluster
CREATE TABLE clustered AS
WITH placed AS (
    SELECT
        members.representative,
        members.similarity,
        occurrences.unit,
        occurrences.doc,
        occurrences.text_id,
        min(occurrences.unit) OVER (PARTITION BY members.representative) AS cluster_id,
        count(*) OVER (PARTITION BY members.representative) AS places
    FROM members JOIN occurrences ON members.text_id = occurrences.text_id
)
SELECT cluster_id, unit, doc, text_id, representative, similarity FROM placed WHERE places > 1
