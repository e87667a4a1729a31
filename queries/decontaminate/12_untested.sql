-- reads:  tested(item, words, is_tested), docs(doc, doc_id)
-- writes: the items that were not looked for
SELECT docs.doc_id AS item_id, tested.words
FROM tested JOIN docs ON tested.item = docs.doc
WHERE NOT tested.is_tested
ORDER BY docs.doc
