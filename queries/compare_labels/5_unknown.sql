-- reads:  labels(contained, container), docs(doc_id)
-- writes: the labelled pairs of which a document is not there
SELECT contained, container
FROM labels
WHERE contained NOT IN (SELECT doc_id FROM docs) OR container NOT IN (SELECT doc_id FROM docs)
ORDER BY contained, container
