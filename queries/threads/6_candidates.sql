-- reads:  occurrences(text_id, doc, side), links(text_a, text_b)
-- writes: candidates(doc_a, doc_b): the pairs of threads with an equal or similar text in some field
CREATE OR REPLACE TABLE candidates AS
SELECT DISTINCT least(doc_a, doc_b) AS doc_a, greatest(doc_a, doc_b) AS doc_b
FROM (
    SELECT a.doc AS doc_a, b.doc AS doc_b
    FROM occurrences AS a JOIN occurrences AS b ON a.text_id = b.text_id AND a.doc < b.doc
    WHERE NOT $against OR a.side <> b.side
    UNION ALL
    SELECT a.doc AS doc_a, b.doc AS doc_b
    FROM links JOIN occurrences AS a ON links.text_a = a.text_id JOIN occurrences AS b ON links.text_b = b.text_id
    WHERE a.doc <> b.doc AND (NOT $against OR a.side <> b.side)
)
