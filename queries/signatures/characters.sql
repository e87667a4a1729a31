-- reads:  units(unit, side, doc, text)
-- writes: signatures(unit, side, doc, set): the runs of $n characters
CREATE OR REPLACE TABLE signatures AS
SELECT unit, side, doc, shingles(characters(normalize(text)), $n) AS set FROM units
