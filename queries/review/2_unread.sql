-- reads:  lines(…), verdicts_origins(doc_id, file, record)
-- writes: the first line that is no verdict, and why
SELECT
    origins.file,
    CAST(origins.record AS VARCHAR) AS number,
    CASE
        WHEN lines.result IS NULL THEN 'the result is missing'
        WHEN lines.key IS NULL THEN 'the key is missing'
        ELSE concat('the verdict is ', coalesce(lines.verdict, 'missing'))
    END AS reason
FROM lines JOIN verdicts_origins AS origins ON lines.record = CAST(origins.doc_id AS BIGINT)
WHERE
    lines.result IS NULL
    OR lines.key IS NULL
    OR NOT coalesce(lines.verdict IN ('same', 'quotation', 'boilerplate', 'false', 'unsure'), false)
ORDER BY lines.record
LIMIT 1
