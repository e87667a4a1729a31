-- reads:  arriving(doc, text)
-- writes: units(unit, side, doc, text): the texts to compare, here sentences
CREATE OR REPLACE VIEW units AS
SELECT doc * 4294967296 + s['sent'] AS unit, 0 AS side, doc, s['text'] AS text
FROM (SELECT doc, unnest(sentences(text)) AS s FROM arriving)
