-- reads:  units(unit, side, doc, text)
-- writes: signatures(unit, side, doc, set): of every $w adjacent runs of $k words the one with the least hash
CREATE OR REPLACE TABLE signatures AS
SELECT unit, side, doc, winnow(words(normalize(text)), $k, $w) AS set FROM units
