-- reads:  units(unit, side, doc, text)
-- writes: occurrences(text_id, unit, side, doc): where each text stands, but for case, width and white space; texts without a word stand
--         nowhere
CREATE TABLE occurrences AS
SELECT min(unit) OVER (PARTITION BY digest) AS text_id, unit, side, doc
-- No two texts with the same BLAKE3 digest are known.
FROM (SELECT unit, side, doc, digest(normalize(text), 'blake3') AS digest FROM units WHERE cardinality(words(text)) > 0)
