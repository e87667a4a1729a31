-- reads:  units(unit, side, doc, text)
-- writes: signatures(unit, side, doc, set): the lines as they stand, each as often as it occurs
CREATE OR REPLACE TABLE signatures AS
SELECT unit, side, doc, multiset(lines(text)) AS set FROM units
