-- reads:  units(unit, side, doc, text)
-- writes: signatures(unit, side, doc, set): the runs of $n characters within the words
CREATE OR REPLACE TABLE signatures AS
SELECT unit, side, doc, subwords(words(normalize(text)), $n) AS set FROM units
