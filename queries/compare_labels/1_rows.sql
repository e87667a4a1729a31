-- reads:  labels_documents(doc_id, and the columns of labels), the file of labels
-- writes: label_rows(record, contained, container, given, given_back, share, share_back): its rows by number, and the share of one
--         document that is in the other; NULL where that is not said
CREATE TABLE label_rows AS
SELECT
    *,
    CASE
        WHEN lower(given) IN ('true', 't', 'yes', 'y') THEN 1
        WHEN lower(given) IN ('false', 'f', 'no', 'n') THEN 0
        ELSE TRY_CAST(given AS DOUBLE)
    END AS share,
    TRY_CAST(given_back AS DOUBLE) AS share_back
FROM (
    SELECT
        CAST(doc_id AS BIGINT) AS record,
        nullif(CAST($contained AS VARCHAR), '') AS contained,
        nullif(CAST($container AS VARCHAR), '') AS container,
        nullif(btrim(CAST($share AS VARCHAR)), '') AS given,
        nullif(btrim(CAST($share_back AS VARCHAR)), '') AS given_back
    FROM labels_documents
)
