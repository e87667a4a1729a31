-- reads:  against_documents(…)
-- writes: one row: the earliest and the latest time of the documents to add, $seconds, in microseconds since 1970
SELECT
    CAST(floor(min($seconds) * 1000000) AS BIGINT) AS earliest,
    CAST(ceil(max($seconds) * 1000000) AS BIGINT) AS latest
FROM against_documents
