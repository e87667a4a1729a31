-- reads:  common(doc_a, doc_b, text_a, pairs, frequent), places(doc, sent, text), units(unit, text), docs(doc, doc_id)
-- writes: capped(text, document_pairs, pairs_not_made, example): the sentences that started no passage where they stand too often
CREATE TABLE capped AS
WITH frequent AS (
    SELECT text_a, count(*) AS document_pairs, sum(pairs) AS pairs, min(doc_a) AS doc
    FROM common
    WHERE frequent
    GROUP BY text_a
),
first AS (
    SELECT doc, text, min(sent) AS sent FROM places GROUP BY doc, text
)
SELECT units.text, frequent.document_pairs, frequent.pairs AS pairs_not_made, docs.doc_id AS example
FROM frequent
JOIN first ON frequent.doc = first.doc AND frequent.text_a = first.text
JOIN units ON first.doc * 4294967296 + first.sent = units.unit
JOIN docs ON frequent.doc = docs.doc
