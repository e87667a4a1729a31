-- reads:  labels(contained, container, share, share_back)
-- writes: the first pair that is labelled in two ways
SELECT contained, container, CAST(min(share) AS VARCHAR) AS least, CAST(max(share) AS VARCHAR) AS most
FROM (
    SELECT contained, container, share FROM labels
    UNION ALL
    SELECT container AS contained, contained AS container, share_back AS share FROM labels WHERE share_back IS NOT NULL
)
GROUP BY contained, container
HAVING min(share) <> max(share)
ORDER BY contained, container
LIMIT 1
