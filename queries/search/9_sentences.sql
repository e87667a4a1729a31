-- reads:  found(query, doc, unit, similarity), docs(doc, doc_id), sentences(doc_id, sent, char_start, char_end),
--         quotation_places(unit, sent, char_start, char_end)
-- writes: hits(query_id, doc_id, sent, char_start, char_end, similarity): sentences, and of the passages that overlap each other the
--         most similar ones, of equal ones the shortest, then the first
WITH passages AS (
    SELECT found.query, found.doc, found.unit, places.sent, places.char_start, places.char_end, found.similarity
    FROM found JOIN quotation_places AS places ON found.unit = places.unit
),
hits AS (
    SELECT found.query, found.doc, found.unit, sentences.sent, sentences.char_start, sentences.char_end, found.similarity
    FROM found
    JOIN docs ON found.doc = docs.doc
    JOIN sentences ON docs.doc_id = sentences.doc_id AND found.unit % 4294967296 = sentences.sent
    UNION ALL
    SELECT passages.*
    FROM passages
    LEFT ANTI JOIN passages AS better
        ON passages.query = better.query
        AND passages.doc = better.doc
        AND passages.char_start < better.char_end
        AND better.char_start < passages.char_end
        AND (
            better.similarity > passages.similarity
            OR better.similarity = passages.similarity
                AND (
                    better.char_end - better.char_start < passages.char_end - passages.char_start
                    OR better.char_end - better.char_start = passages.char_end - passages.char_start
                        AND better.char_start < passages.char_start
                )
        )
)
SELECT queries.doc_id AS query_id, searched.doc_id, hits.sent, hits.char_start, hits.char_end, hits.similarity
FROM hits JOIN docs AS queries ON hits.query = queries.doc JOIN docs AS searched ON hits.doc = searched.doc
ORDER BY hits.query, hits.unit
