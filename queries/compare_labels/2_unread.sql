-- reads:  label_rows(record, contained, container, given, given_back, share, share_back)
-- writes: the first row that says nothing, and why
SELECT
    CAST(record AS VARCHAR) AS number,
    CASE
        WHEN contained IS NULL OR container IS NULL THEN 'an id is missing'
        WHEN coalesce(share BETWEEN 0 AND 1, false) THEN concat('the share is ', coalesce(given_back, 'missing'))
        ELSE concat('the share is ', coalesce(given, 'missing'))
    END AS reason
FROM label_rows
WHERE
    contained IS NULL
    OR container IS NULL
    OR NOT coalesce(share BETWEEN 0 AND 1, false)
    OR ($both_ways AND NOT coalesce(share_back BETWEEN 0 AND 1, false))
ORDER BY record
LIMIT 1
