-- reads:  labels(id_a, id_b, label), docs(side, doc_id)
-- writes: the labelled pairs of which a thread is not there
SELECT id_a, id_b
FROM labels
WHERE
    label IS NOT NULL
    AND (
        id_a NOT IN (SELECT doc_id FROM docs WHERE side = 0)
        OR id_b NOT IN (SELECT doc_id FROM docs WHERE side = CAST($against AS INT))
    )
ORDER BY id_a, id_b
