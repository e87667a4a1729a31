-- reads:  arriving(doc, text)
-- writes: units(unit, side, doc, text): the texts to compare, here sentences, by the rules of the
--         language $sentence_language
CREATE OR REPLACE VIEW units AS
SELECT doc * 4294967296 + s['sent'] AS unit, 0 AS side, doc, s['text'] AS text
FROM (SELECT doc, unnest(sentences(text, $sentence_language)) AS s FROM arriving)
