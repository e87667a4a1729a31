-- reads:  labels_documents(id_a, id_b, and the column $label), the file of labels
-- writes: label_rows(id_a, id_b, given, label): its rows, and whether they say that the two threads are duplicates; NULL where
--         the file has nothing, and a label that is NULL where what is given says neither
CREATE TABLE label_rows AS
SELECT
    id_a,
    id_b,
    given,
    CASE
        WHEN lower(given) IN ('true', 't', 'yes', 'y', '1', '1.0') THEN true
        WHEN lower(given) IN ('false', 'f', 'no', 'n', '0', '0.0') THEN false
    END AS label
FROM (
    SELECT
        nullif(CAST(id_a AS VARCHAR), '') AS id_a,
        nullif(CAST(id_b AS VARCHAR), '') AS id_b,
        nullif(btrim(CAST($label AS VARCHAR)), '') AS given
    FROM labels_documents
)
