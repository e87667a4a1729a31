-- reads:  places(doc, sent_start, sent_end, char_start, char_end, byte_start, byte_end), doc_texts(doc, text)
-- writes: excerpts: the same with their texts
CREATE TABLE excerpts AS
-- The documents are found before their texts.
WITH found AS (
    SELECT doc_texts.* FROM doc_texts LEFT SEMI JOIN places ON doc_texts.doc = places.doc
)
SELECT places.*, substr(found.text, places.char_start + 1, places.char_end - places.char_start) AS text
FROM places JOIN found ON places.doc = found.doc
