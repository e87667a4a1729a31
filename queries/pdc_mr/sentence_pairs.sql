-- reads:  signatures(unit, side, doc, set)
-- writes: nothing; gives unit_a, unit_b, similarity: the units with a Jaccard similarity of at least $threshold, by the
--         plan of PDC-MR (Zhang et al. 2010, algorithm 1): the postings of each signature joined with themselves, the
--         length ratio, and a count for each pair. A signature in n units makes n² rows, so the pipelines use a
--         similarity join, which gives the same
WITH postings AS (
    SELECT unit, CAST(cardinality(set) AS BIGINT) AS length, unnest(set) AS token FROM signatures
)
SELECT
    a.unit AS unit_a,
    b.unit AS unit_b,
    CAST(count(*) AS DOUBLE) / (a.length + b.length - count(*)) AS similarity
FROM postings AS a
JOIN postings AS b
    ON a.token = b.token
    AND a.unit < b.unit
    AND CAST(a.length AS DOUBLE) / b.length >= $threshold
    AND CAST(b.length AS DOUBLE) / a.length >= $threshold
GROUP BY a.unit, a.length, b.unit, b.length
HAVING CAST(count(*) AS DOUBLE) / (a.length + b.length - count(*)) >= $threshold
ORDER BY unit_a, unit_b
