-- reads:  common_nodes(doc_a, doc_b, weight), nodes(doc, weight, times)
-- writes: scores(doc_a, doc_b, score, score_back): CS(A, C) / SCS(A) and CS(A, C) / SCS(C), at most 1: it would be more where one
--         repeats what the other says once
CREATE TABLE scores AS
WITH own AS (
    SELECT doc, sum(times * times * weight) AS weight FROM nodes GROUP BY doc
),
shares AS (
    SELECT
        common_nodes.doc_a,
        common_nodes.doc_b,
        least(common_nodes.weight / nullif(a.weight, 0), 1) AS score_a,
        least(common_nodes.weight / nullif(b.weight, 0), 1) AS score_b
    FROM common_nodes JOIN own AS a ON common_nodes.doc_a = a.doc JOIN own AS b ON common_nodes.doc_b = b.doc
)
SELECT doc_a, doc_b, score_a AS score, score_b AS score_back FROM shares WHERE score_a >= $threshold
UNION ALL
SELECT doc_b AS doc_a, doc_a AS doc_b, score_b AS score, score_a AS score_back
FROM shares
WHERE NOT $against AND score_b >= $threshold
