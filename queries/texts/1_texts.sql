-- reads:  signatures(unit, side, set)
-- writes: texts(text_id, set, units, against_units): the distinct signatures, each named by its first unit
CREATE TABLE texts AS
SELECT
    min(unit) AS text_id,
    set,
    count(*) AS units,
    sum(side) AS against_units
FROM signatures
WHERE cardinality(set) > 0
GROUP BY set
