-- reads:  signatures(unit, side, doc, set)
-- writes: found(query, doc, unit, similarity): the units that are similar to a query
CREATE TABLE found AS
SELECT queries.doc AS query, searched.doc, searched.unit, jaccard(queries.set, searched.set) AS similarity
FROM (SELECT doc, set FROM signatures WHERE side = 1) AS queries
JOIN (SELECT doc, unit, set FROM signatures WHERE side = 0) AS searched
    ON jaccard(queries.set, searched.set) >= $threshold
