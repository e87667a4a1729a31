-- reads:  tested(item, words, is_tested), docs(doc, doc_id), against_documents(doc_id, …)
-- writes: the other items that were not looked for
SELECT docs.doc_id AS item_id, tested.words
FROM tested
JOIN docs ON tested.item = docs.doc
JOIN (SELECT doc_id FROM against_documents WHERE coalesce($columns) IS NOT NULL) AS items ON docs.doc_id = items.doc_id
WHERE NOT tested.is_tested
ORDER BY docs.doc
