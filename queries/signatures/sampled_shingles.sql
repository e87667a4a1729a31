-- reads:  units(unit, side, doc, text)
-- writes: signatures(unit, side, doc, set): every $step-th run of $n words
CREATE OR REPLACE TABLE signatures AS
SELECT unit, side, doc, shingles(words(normalize(text)), $n, $step) AS set FROM units
