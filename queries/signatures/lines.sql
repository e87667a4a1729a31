-- reads:  units(unit, side, doc, text)
-- writes: signatures(unit, side, doc, set): the runs of $n lines, as they stand
CREATE OR REPLACE TABLE signatures AS
SELECT unit, side, doc, shingles(lines(text), $n) AS set FROM units
