-- reads:  documents(…), against_documents(…)
-- writes: the forms of the times $timed_by, with how many documents have each, and the first and the last day of these; without a form what
--         cannot be read
SELECT
    form,
    CAST(count(*) AS BIGINT) AS documents,
    split_part(CAST(to_timestamp_micros(CAST(min(seconds) * 1000000 AS BIGINT)) AS VARCHAR), 'T', 1) AS first,
    split_part(CAST(to_timestamp_micros(CAST(max(seconds) * 1000000 AS BIGINT)) AS VARCHAR), 'T', 1) AS last
FROM (
    SELECT time['seconds'] AS seconds, time['form'] AS form
    FROM (
        SELECT time_of($timed_by) AS time FROM documents
        UNION ALL
        SELECT time_of($timed_by) AS time FROM against_documents
    )
)
GROUP BY form
ORDER BY form NULLS LAST
