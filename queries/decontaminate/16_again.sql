-- reads:  remaining(doc_id, text), docs(doc, side, doc_id), hits(doc), positions(doc, position), grams(k, gram)
-- writes: the documents that have a run of an item once passages are cut out of them, by their positions: it stands where they were joined
WITH joined AS (
    SELECT docs.doc, word_sequence(remaining.text) AS words
    FROM remaining JOIN docs ON remaining.doc_id = docs.doc_id AND docs.side = 0
    LEFT SEMI JOIN hits ON docs.doc = hits.doc
)
SELECT DISTINCT positions.position
FROM (
    SELECT doc, unnest(fingerprints(words, k, 1, (SELECT array_agg(DISTINCT gram ORDER BY gram) FROM grams))) AS print
    FROM (SELECT doc, words, unnest((SELECT array_agg(DISTINCT k) FROM grams)) AS k FROM joined)
) AS met
JOIN positions ON met.doc = positions.doc
ORDER BY positions.position
