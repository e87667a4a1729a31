-- reads:  matches(text_a, text_b, similarity, frequent), occurrences(text_id, unit, side, doc), twins(doc, twin)
-- writes: unit_pairs(doc_a, unit_a, text_a, doc_b, unit_b, text_b, similarity): every pair once, the first unit first;
--         of two collections none of a document and its twin
CREATE VIEW unit_pairs AS
SELECT
    a.doc AS doc_a,
    a.unit AS unit_a,
    a.text_id AS text_a,
    b.doc AS doc_b,
    b.unit AS unit_b,
    b.text_id AS text_b,
    matches.similarity
FROM matches
JOIN occurrences AS a ON matches.text_a = a.text_id
JOIN (
    SELECT occurrences.*, twins.twin FROM twins RIGHT JOIN occurrences ON twins.doc = occurrences.doc
) AS b ON matches.text_b = b.text_id
WHERE NOT matches.frequent
    AND (
        (a.side < b.side AND a.doc IS DISTINCT FROM b.twin)
        OR (NOT $against AND a.doc < b.doc)
        OR (NOT $against AND $within_documents AND a.doc = b.doc AND a.unit < b.unit)
    )
