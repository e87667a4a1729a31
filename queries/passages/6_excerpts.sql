-- reads:  located(doc_a, doc_b, char_a_start … byte_b_end), doc_texts(doc, text)
-- writes: excerpts(doc, byte_start, byte_end, text): what stands in each place of a run
CREATE TABLE excerpts AS
WITH places AS (
    SELECT doc_a AS doc, char_a_start AS char_start, char_a_end AS char_end, byte_a_start AS byte_start, byte_a_end AS byte_end
    FROM located
    UNION
    SELECT doc_b, char_b_start, char_b_end, byte_b_start, byte_b_end FROM located
),
found AS (
    SELECT doc_texts.*
    FROM doc_texts
    LEFT SEMI JOIN (SELECT doc_a AS doc FROM located UNION SELECT doc_b FROM located) AS ends ON doc_texts.doc = ends.doc
)
SELECT
    places.doc,
    places.byte_start,
    places.byte_end,
    substr(found.text, places.char_start + 1, places.char_end - places.char_start) AS text
FROM places JOIN found ON places.doc = found.doc
