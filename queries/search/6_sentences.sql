-- reads:  found(query, doc, unit, similarity), docs(doc, doc_id), sentences(doc_id, sent, char_start, char_end)
-- writes: hits(query_id, doc_id, sent, char_start, char_end, similarity)
SELECT
    queries.doc_id AS query_id,
    searched.doc_id,
    sentences.sent,
    sentences.char_start,
    sentences.char_end,
    found.similarity
FROM found
JOIN docs AS queries ON found.query = queries.doc
JOIN docs AS searched ON found.doc = searched.doc
JOIN sentences ON searched.doc_id = sentences.doc_id AND found.unit % 4294967296 = sentences.sent
ORDER BY found.query, found.unit
