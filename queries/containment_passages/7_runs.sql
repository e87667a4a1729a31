-- reads:  seeds and extensions(doc_a, place_a, doc_b, place_b)
-- writes: runs(doc_a, doc_b, run): the maximal runs of shared sentences that follow one another in both documents
CREATE TABLE runs AS
SELECT doc_a, doc_b, unnest(diagonals(place_a, place_b, CAST(1 AS DOUBLE), seed, 1, 0)) AS run
FROM (
    SELECT doc_a, place_a, doc_b, place_b, true AS seed FROM seeds
    UNION ALL
    SELECT doc_a, place_a, doc_b, place_b, false AS seed FROM extensions
)
GROUP BY doc_a, doc_b
