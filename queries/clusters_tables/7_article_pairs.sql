-- reads:  shared(a, b, pairs, texts_a, texts_b), docs(doc, doc_id)
-- writes: article_pairs(doc_a, doc_b, pairs, texts_a, texts_b), most pairs first
SELECT doc_a.doc_id AS doc_a, doc_b.doc_id AS doc_b, shared.pairs, shared.texts_a, shared.texts_b
FROM shared JOIN docs AS doc_a ON shared.a = doc_a.doc JOIN docs AS doc_b ON shared.b = doc_b.doc
ORDER BY shared.pairs DESC, shared.a, shared.b
