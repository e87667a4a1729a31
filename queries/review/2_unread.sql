-- reads:  lines(…)
-- writes: the first line that is no verdict, and why
SELECT
    file,
    CAST(record AS VARCHAR) AS number,
    CASE
        WHEN result IS NULL THEN 'the result is missing'
        WHEN key IS NULL THEN 'the key is missing'
        ELSE concat('the verdict is ', coalesce(verdict, 'missing'))
    END AS reason
FROM lines
WHERE
    result IS NULL
    OR key IS NULL
    OR NOT coalesce(verdict IN ('same', 'quotation', 'boilerplate', 'false', 'unsure'), false)
ORDER BY file, record
LIMIT 1
