-- reads:  coded(unit, side, doc, set, code)
-- writes: found(query, doc, unit, similarity): the units that are similar to a query, of those whose codes differ in at most
--         $distance bits
CREATE TABLE found AS
SELECT queries.doc AS query, searched.doc, searched.unit, jaccard(queries.set, searched.set) AS similarity
FROM (SELECT doc, set, code FROM coded WHERE side = 1) AS queries
JOIN (SELECT doc, unit, set, code FROM coded WHERE side = 0) AS searched
    ON hamming(queries.code, searched.code) <= $distance
    AND jaccard(queries.set, searched.set) >= $threshold
