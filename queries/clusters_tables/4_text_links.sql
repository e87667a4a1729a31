-- reads:  links(text_a, text_b, similarity), linked(unit, doc_id, sent, places, cited, text)
-- writes: text_links(unit_a, unit_b, doc_a, sent_a, places_a, doc_b, sent_b, places_b, similarity, edit_similarity, kind, text_a,
--         text_b): the pairs of distinct texts, and what kind of pair it is; two sentences of sections of references are a
--         reference whatever they say. Texts of more than 5,000 characters are no sentences: their edit similarity and kind
--         are NULL
CREATE TABLE text_links AS
SELECT
    links.text_a AS unit_a,
    links.text_b AS unit_b,
    a.doc_id AS doc_a,
    a.sent AS sent_a,
    a.places AS places_a,
    b.doc_id AS doc_b,
    b.sent AS sent_b,
    b.places AS places_b,
    links.similarity,
    CASE WHEN greatest(character_length(a.text), character_length(b.text)) <= 5000 THEN edit_similarity(a.text, b.text) END
        AS edit_similarity,
    CASE
        WHEN a.cited AND b.cited THEN 'reference'
        WHEN greatest(character_length(a.text), character_length(b.text)) <= 5000 THEN reuse_kind(a.text, b.text)
    END AS kind,
    a.text AS text_a,
    b.text AS text_b
FROM links JOIN linked AS a ON links.text_a = a.unit JOIN linked AS b ON links.text_b = b.unit
