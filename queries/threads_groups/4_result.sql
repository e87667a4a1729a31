-- reads:  candidates(doc_a, doc_b, a similarity for each field), docs(doc, side, doc_id)
-- writes: the groups: the thread to keep, a thread of its group, and the score of the two, 1 for the thread to keep itself; of
--         two collections also from which of them each is
SELECT $group_columns
FROM (
    SELECT
        scored.doc_a,
        scored.doc_b,
        a.doc_id AS canonical,
        b.doc_id AS id,
        CASE WHEN scored.doc_a = scored.doc_b THEN 1 ELSE scored.score END AS score,
        CASE a.side WHEN 0 THEN 'input' ELSE 'against' END AS canonical_collection,
        CASE b.side WHEN 0 THEN 'input' ELSE 'against' END AS collection
    FROM (SELECT doc_a, doc_b, least($score, 1) AS score FROM candidates) AS scored
    JOIN docs AS a ON scored.doc_a = a.doc
    JOIN docs AS b ON scored.doc_b = b.doc
)
ORDER BY doc_a, doc_b
