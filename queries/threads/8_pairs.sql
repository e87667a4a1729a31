-- reads:  candidates(doc_a, doc_b, a similarity for each field), docs(doc, doc_id), twins(doc, twin)
-- writes: pairs(doc_a, doc_b, score, a similarity for each field, id_a, id_b): the near-duplicate threads; the score is the
--         weighted mean of the similarities. Rounding may take it a little above 1, or below a threshold that it reaches:
--         $threshold is so much below the one that was asked for. A thread of both collections is no duplicate of itself
CREATE TABLE pairs AS
SELECT scored.*, a.doc_id AS id_a, b.doc_id AS id_b
FROM (SELECT doc_a, doc_b, least($score, 1) AS score, $names FROM candidates WHERE $score >= $threshold) AS scored
JOIN docs AS a ON scored.doc_a = a.doc
JOIN docs AS b ON scored.doc_b = b.doc
LEFT ANTI JOIN twins ON scored.doc_a = twins.twin AND scored.doc_b = twins.doc
