-- reads:  labels(contained, container, share, share_back), docs(doc, doc_id)
-- writes: truth(doc_a, doc_b, share, share_back): the labelled pairs whose documents are there
SELECT a.doc AS doc_a, b.doc AS doc_b, labels.share, labels.share_back
FROM labels JOIN docs AS a ON labels.contained = a.doc_id JOIN docs AS b ON labels.container = b.doc_id
ORDER BY doc_a, doc_b
