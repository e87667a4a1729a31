-- reads:  arriving(doc, text)
-- writes: units(unit, side, doc, text): the texts to compare, here whole documents
CREATE OR REPLACE VIEW units AS
SELECT doc * 4294967296 AS unit, 0 AS side, doc, text FROM arriving
