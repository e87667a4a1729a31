-- reads:  verdicts_documents(doc_id, and the columns of verdicts), of which parameters name the columns, NULL where there is none,
--         verdicts_origins(doc_id, file, record)
-- writes: lines(file, record, result, key, verdict, note, method, similarity, at): verdicts as they were given
CREATE TABLE lines AS
SELECT
    origins.file,
    origins.record,
    nullif(CAST($result AS VARCHAR), '') AS result,
    nullif(CAST($key AS VARCHAR), '') AS key,
    nullif(lower(btrim(CAST($verdict AS VARCHAR))), '') AS verdict,
    coalesce(CAST($note AS VARCHAR), '') AS note,
    coalesce(CAST($method AS VARCHAR), '') AS method,
    TRY_CAST(CAST($similarity AS VARCHAR) AS DOUBLE) AS similarity,
    coalesce(CAST($at AS VARCHAR), '') AS at
FROM verdicts_documents JOIN verdicts_origins AS origins ON verdicts_documents.doc_id = origins.doc_id
