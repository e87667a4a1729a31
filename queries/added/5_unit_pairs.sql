-- reads:  matches(text_a, text_b, similarity, frequent), occurrences(text_id, unit, side, doc)
-- writes: unit_pairs(doc_a, unit_a, text_a, doc_b, unit_b, text_b, similarity): every pair of which one is new, side 1, at
--         least, once, the first unit first
CREATE VIEW unit_pairs AS
WITH compared AS (
    SELECT matches.text_a, matches.text_b, matches.similarity, a.doc AS doc_a, a.unit AS unit_a, b.doc AS doc_b, b.unit AS unit_b
    FROM matches
    JOIN occurrences AS a ON matches.text_a = a.text_id
    JOIN occurrences AS b ON matches.text_b = b.text_id
    WHERE NOT matches.frequent AND a.side = 1
    UNION ALL
    -- A second part, so that the places of the index are joined only with the new ones.
    SELECT matches.text_a, matches.text_b, matches.similarity, a.doc AS doc_a, a.unit AS unit_a, b.doc AS doc_b, b.unit AS unit_b
    FROM matches
    JOIN occurrences AS a ON matches.text_a = a.text_id
    JOIN occurrences AS b ON matches.text_b = b.text_id
    WHERE NOT matches.frequent AND a.side = 0 AND b.side = 1
)
SELECT doc_a, unit_a, text_a, doc_b, unit_b, text_b, similarity
FROM compared
WHERE doc_a < doc_b OR ($within_documents AND doc_a = doc_b AND unit_a < unit_b)
