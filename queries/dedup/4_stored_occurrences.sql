-- reads:  stored_pairs(rank, other_rank, share, share_back), as pairs of an earlier run
-- writes: occurrences(text_id, unit): where each text stands that matches another, or stands in several places: two that match wholly in
--         both directions are the same
CREATE TABLE occurrences AS
WITH matching AS (
    SELECT rank AS unit FROM stored_pairs UNION SELECT other_rank FROM stored_pairs
),
equal AS (
    SELECT rank AS unit, other_rank AS text_id FROM stored_pairs WHERE share = 1 AND share_back = 1
)
SELECT coalesce(equal.text_id, matching.unit) AS text_id, matching.unit
FROM equal RIGHT JOIN matching ON equal.unit = matching.unit
