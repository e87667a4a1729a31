-- reads:  candidates(doc_a, doc_b, a similarity for each field), docs(doc, doc_id), pairs(doc_a, doc_b),
--         sample(doc)
-- writes: sampled(pairs, found): of each sampled thread how many pairs it has, and how many of them were found
CREATE TABLE sampled AS
WITH exact AS (
    SELECT scored.doc_a, scored.doc_b
    FROM (SELECT doc_a, doc_b FROM candidates WHERE $score >= $threshold) AS scored
    JOIN docs AS a ON scored.doc_a = a.doc
    JOIN docs AS b ON scored.doc_b = b.doc
    WHERE a.doc_id <> b.doc_id
),
marked AS (
    SELECT exact.*, pairs.doc_a IS NOT NULL AS is_found
    FROM exact LEFT JOIN pairs ON exact.doc_a = pairs.doc_a AND exact.doc_b = pairs.doc_b
)
SELECT count(*) AS pairs, sum(CAST(is_found AS BIGINT)) AS found
FROM (SELECT doc_a AS doc, is_found FROM marked UNION ALL SELECT doc_b AS doc, is_found FROM marked) AS ends
LEFT SEMI JOIN sample ON ends.doc = sample.doc
GROUP BY doc
