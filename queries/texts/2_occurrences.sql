-- reads:  signatures(unit, side, doc, set), texts(text_id, set)
-- writes: occurrences(text_id, unit, side, doc): where each text stands
CREATE TABLE occurrences AS
SELECT texts.text_id, signatures.unit, signatures.side, signatures.doc
FROM texts JOIN signatures ON texts.set = signatures.set
