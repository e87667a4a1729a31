-- reads:  links(text_a, text_b, similarity), texts(text_id, units), units(unit, doc, text), docs(doc, doc_id), cited(unit)
-- writes: text_links(unit_a, unit_b, doc_a, sent_a, places_a, doc_b, sent_b, places_b, similarity, edit_similarity, kind, text_a,
--         text_b):
--         the pairs of distinct texts, each at its first place, and what kind of pair it is; two
--         sentences of sections of references are a reference whatever they say.
--         Texts of more than 5,000 characters are no sentences: their edit similarity and kind are NULL
CREATE TABLE text_links AS
SELECT
    links.text_a AS unit_a,
    links.text_b AS unit_b,
    doc_a.doc_id AS doc_a,
    CAST(links.text_a % 4294967296 AS INT) AS sent_a,
    places_a.units AS places_a,
    doc_b.doc_id AS doc_b,
    CAST(links.text_b % 4294967296 AS INT) AS sent_b,
    places_b.units AS places_b,
    links.similarity,
    CASE WHEN greatest(character_length(a.text), character_length(b.text)) <= 5000 THEN edit_similarity(a.text, b.text) END
        AS edit_similarity,
    CASE
        WHEN cited_a.unit IS NOT NULL AND cited_b.unit IS NOT NULL THEN 'reference'
        WHEN greatest(character_length(a.text), character_length(b.text)) <= 5000 THEN reuse_kind(a.text, b.text)
    END AS kind,
    a.text AS text_a,
    b.text AS text_b
FROM links
JOIN units AS a ON links.text_a = a.unit
JOIN units AS b ON links.text_b = b.unit
JOIN (SELECT text_id, units FROM texts) AS places_a ON links.text_a = places_a.text_id
JOIN (SELECT text_id, units FROM texts) AS places_b ON links.text_b = places_b.text_id
JOIN docs AS doc_a ON a.doc = doc_a.doc
JOIN docs AS doc_b ON b.doc = doc_b.doc
LEFT JOIN cited AS cited_a ON links.text_a = cited_a.unit
LEFT JOIN cited AS cited_b ON links.text_b = cited_b.unit
