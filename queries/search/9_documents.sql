-- reads:  found(query, doc, similarity), docs(doc, doc_id), documents(doc_id, text)
-- writes: hits(query_id, doc_id, sent, char_start, char_end, similarity), where sent is NULL
SELECT
    queries.doc_id AS query_id,
    searched.doc_id,
    CAST(NULL AS INT) AS sent,
    CAST(0 AS INT) AS char_start,
    CAST(character_length(documents.text) AS INT) AS char_end,
    found.similarity
FROM found
JOIN docs AS queries ON found.query = queries.doc
JOIN docs AS searched ON found.doc = searched.doc
JOIN documents ON searched.doc_id = documents.doc_id
ORDER BY found.query, found.doc
