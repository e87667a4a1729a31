-- reads:  nodes(side, doc, node, weight, times)
-- writes: scores(doc_a, doc_b, score, score_back): CS(A, C) / SCS(A) and CS(A, C) / SCS(C) of CoDet (Varol et al. 2011, section
--         3), at most 1: it would be more where one repeats what the other says once
CREATE TABLE scores AS
WITH own AS (
    SELECT doc, sum(times * times * weight) AS weight FROM nodes GROUP BY doc
),
visits AS (
    SELECT a.doc AS doc_a, b.doc AS doc_b, a.times * b.times * a.weight AS weight
    FROM nodes AS a JOIN nodes AS b ON a.node = b.node AND a.doc < b.doc
    WHERE (NOT $against OR a.side <> b.side) AND (NOT $add OR a.side = 1)
    UNION ALL
    -- Where documents are added, in two parts, so that those of the index are joined with the new ones alone.
    SELECT a.doc AS doc_a, b.doc AS doc_b, a.times * b.times * a.weight AS weight
    FROM nodes AS a JOIN nodes AS b ON a.node = b.node AND a.doc < b.doc
    WHERE $add AND a.side = 0 AND b.side = 1
),
common AS (
    SELECT doc_a, doc_b, sum(weight) AS weight FROM visits GROUP BY doc_a, doc_b
),
shares AS (
    SELECT
        common.doc_a,
        common.doc_b,
        least(common.weight / nullif(a.weight, 0), 1) AS score_a,
        least(common.weight / nullif(b.weight, 0), 1) AS score_b
    FROM common JOIN own AS a ON common.doc_a = a.doc JOIN own AS b ON common.doc_b = b.doc
)
SELECT doc_a, doc_b, score_a AS score, score_b AS score_back FROM shares WHERE score_a >= $threshold
UNION ALL
SELECT doc_b AS doc_a, doc_a AS doc_b, score_b AS score, score_a AS score_back
FROM shares
WHERE NOT $against AND score_b >= $threshold
