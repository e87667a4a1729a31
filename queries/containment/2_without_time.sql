-- reads:  times(doc, seconds), docs(doc, doc_id)
-- writes: the documents of which it cannot be told when they came
SELECT docs.doc_id AS id FROM times JOIN docs ON times.doc = docs.doc WHERE times.seconds IS NULL ORDER BY docs.doc
