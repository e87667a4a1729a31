-- reads:  documents(…), against_documents(…)
-- writes: the forms of the times $timed_by, with how many documents have each, and the first and the last day of these; without a form what
--         cannot be read
SELECT
    form,
    CAST(count(*) AS BIGINT) AS documents,
    split_part(CAST(to_timestamp_micros(CAST(min(seconds) * 1000000 AS BIGINT)) AS VARCHAR), 'T', 1) AS first,
    split_part(CAST(to_timestamp_micros(CAST(max(seconds) * 1000000 AS BIGINT)) AS VARCHAR), 'T', 1) AS last
FROM (
    SELECT time_of($timed_by)['seconds'] AS seconds, time_of($timed_by)['form'] AS form FROM documents
    UNION ALL
    SELECT time_of($timed_by)['seconds'] AS seconds, time_of($timed_by)['form'] AS form FROM against_documents
)
GROUP BY form
ORDER BY form NULLS LAST
