-- reads:  tested(item, words, is_tested, documents, share), docs(doc, doc_id)
-- writes: the items by their ids
SELECT docs.doc_id AS item_id, tested.words, tested.is_tested, tested.documents, tested.share
FROM tested JOIN docs ON tested.item = docs.doc
ORDER BY docs.doc
