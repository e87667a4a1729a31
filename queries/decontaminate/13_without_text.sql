-- reads:  against_documents(doc_id, …)
-- writes: the items that have none of the columns $columns
SELECT doc_id AS item_id FROM against_documents WHERE coalesce($columns) IS NULL ORDER BY doc_id
