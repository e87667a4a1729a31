-- reads:  contained_texts(text_a, text_b), occurrences(text_id, unit, doc, side), texts(text_id, set)
-- writes: shares(doc_a, side_a, doc_b, score): the share of a document, by the elements of its sentences, whose sentences are in a
--         sentence of another
CREATE TABLE shares AS
WITH sentences AS (
    SELECT occurrences.*, cardinality(texts.set) AS elements
    FROM occurrences JOIN texts ON occurrences.text_id = texts.text_id
),
sizes AS (
    SELECT doc, sum(elements) AS elements FROM sentences GROUP BY doc
),
common AS (
    SELECT doc_a, side_a, doc_b, sum(elements) AS elements
    FROM (
        SELECT DISTINCT a.unit, a.elements, a.doc AS doc_a, a.side AS side_a, b.doc AS doc_b
        FROM contained_texts
        JOIN sentences AS a ON contained_texts.text_a = a.text_id
        JOIN sentences AS b ON contained_texts.text_b = b.text_id
        WHERE a.doc <> b.doc AND (NOT $against OR a.side <> b.side) AND (NOT $add OR a.side = 1 OR b.side = 1)
    )
    GROUP BY doc_a, side_a, doc_b
)
SELECT common.doc_a, common.side_a, common.doc_b, CAST(common.elements AS DOUBLE) / sizes.elements AS score
FROM common JOIN sizes ON common.doc_a = sizes.doc
