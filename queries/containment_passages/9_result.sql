-- reads:  scores(doc_a, doc_b, score, score_back), shared(doc_a, doc_b, sentences), runs(doc_a, doc_b, run), places(doc, place,
--         sent), spans(doc, sent, char_start, char_end, byte_start, byte_end), docs(doc, doc_id)
-- writes: the result of containment/7_result.sql, and for each row the passages, a of the contained, b of the container
WITH placed AS (
    SELECT places.doc, places.place, places.sent, spans.char_start, spans.char_end, spans.byte_start, spans.byte_end
    FROM places JOIN spans ON places.doc = spans.doc AND places.sent = spans.sent
),
located AS (
    SELECT
        runs.doc_a,
        runs.doc_b,
        -- Structs that are sorted as they are gathered count as much memory as the batches that they come from.
        array_sort(array_agg(
            named_struct(
                'sent_a_start', first_a.sent,
                'sent_a_end', last_a.sent + 1,
                'sent_b_start', first_b.sent,
                'sent_b_end', last_b.sent + 1,
                'char_a_start', first_a.char_start,
                'char_a_end', last_a.char_end,
                'char_b_start', first_b.char_start,
                'char_b_end', last_b.char_end,
                'byte_a_start', first_a.byte_start,
                'byte_a_end', last_a.byte_end,
                'byte_b_start', first_b.byte_start,
                'byte_b_end', last_b.byte_end,
                'sentences', runs.run['sentences']
            )
        )) AS passages
    FROM runs
    JOIN placed AS first_a ON runs.doc_a = first_a.doc AND runs.run['sent_a_start'] = first_a.place
    JOIN placed AS last_a ON runs.doc_a = last_a.doc AND runs.run['sent_a_end'] - 1 = last_a.place
    JOIN placed AS first_b ON runs.doc_b = first_b.doc AND runs.run['sent_b_start'] = first_b.place
    JOIN placed AS last_b ON runs.doc_b = last_b.doc AND runs.run['sent_b_end'] - 1 = last_b.place
    GROUP BY runs.doc_a, runs.doc_b
)
SELECT
    a.doc_id AS contained,
    b.doc_id AS container,
    scores.score,
    scores.score_back,
    coalesce(shared.sentences, 0) AS sentences,
    coalesce(located.passages, []) AS passages
FROM scores
JOIN docs AS a ON scores.doc_a = a.doc
JOIN docs AS b ON scores.doc_b = b.doc
LEFT JOIN shared ON scores.doc_a = shared.doc_a AND scores.doc_b = shared.doc_b
LEFT JOIN located ON scores.doc_a = located.doc_a AND scores.doc_b = located.doc_b
ORDER BY scores.doc_a, scores.doc_b
