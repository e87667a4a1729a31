-- reads:  verdicts_documents(doc_id, and the columns of verdicts), of which parameters name the columns, NULL where there is none
-- writes: lines(record, result, key, verdict, note, method, similarity, at): verdicts as they were given, by number
CREATE TABLE lines AS
SELECT
    CAST(doc_id AS BIGINT) AS record,
    nullif(CAST($result AS VARCHAR), '') AS result,
    nullif(CAST($key AS VARCHAR), '') AS key,
    nullif(lower(btrim(CAST($verdict AS VARCHAR))), '') AS verdict,
    coalesce(CAST($note AS VARCHAR), '') AS note,
    coalesce(CAST($method AS VARCHAR), '') AS method,
    TRY_CAST(CAST($similarity AS VARCHAR) AS DOUBLE) AS similarity,
    coalesce(CAST($at AS VARCHAR), '') AS at
FROM verdicts_documents
