-- reads:  candidates(doc_a, doc_b, …), sets(field, doc, set)
-- writes: candidates: with the similarity of the field number $field as the column $name, 0 where one of the two has no text
CREATE OR REPLACE TABLE candidates AS
SELECT candidates.*, coalesce(jaccard(a.set, b.set), 0) AS $name
FROM candidates
LEFT JOIN (SELECT doc, set FROM sets WHERE field = $field) AS a ON candidates.doc_a = a.doc
LEFT JOIN (SELECT doc, set FROM sets WHERE field = $field) AS b ON candidates.doc_b = b.doc
