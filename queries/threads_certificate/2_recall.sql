-- reads:  candidates(doc_a, doc_b, a similarity for each field), docs(doc, doc_id), pairs(doc_a, doc_b)
-- writes: one row: how many pairs the sampled threads have, and how many of them were found
WITH exact AS (
    SELECT candidates.doc_a, candidates.doc_b
    FROM candidates JOIN docs AS a ON candidates.doc_a = a.doc JOIN docs AS b ON candidates.doc_b = b.doc
    WHERE
        $score >= $threshold
        AND a.doc_id <> b.doc_id
        AND (md5(a.doc_id) <= $last_hash OR md5(b.doc_id) <= $last_hash)
)
SELECT count(*) AS pairs, count(pairs.doc_a) AS found
FROM exact LEFT JOIN pairs ON exact.doc_a = pairs.doc_a AND exact.doc_b = pairs.doc_b
