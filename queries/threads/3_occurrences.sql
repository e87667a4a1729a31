-- reads:  sets(field, doc, side, set), texts(text_id, field, set)
-- writes: occurrences(text_id, doc, side): the threads that have each text
CREATE TABLE occurrences AS
SELECT texts.text_id, sets.doc, sets.side
FROM texts JOIN sets ON texts.field = sets.field AND texts.set = sets.set
