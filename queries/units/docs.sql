-- reads:  documents(doc_id), against_documents(doc_id)
-- writes: docs(doc, side, doc_id): documents numbered in the order of their ids; to compare two collections, $against, those of
--         the other one last
CREATE TABLE docs AS
SELECT CAST(row_number() OVER (ORDER BY CASE WHEN $against THEN side ELSE 0 END, doc_id) AS BIGINT) - 1 AS doc, side, doc_id
FROM (
    SELECT 0 AS side, doc_id FROM documents
    UNION ALL
    SELECT 1 AS side, doc_id FROM against_documents
)
