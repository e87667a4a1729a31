-- reads:  covered(counted, doc, other, characters, unmarked), docs(doc, side, doc_id), documents and
--         against_documents(doc_id, text)
-- writes: coverage(doc_id, characters, in_passages, in_families, reused, closest, shared_with_closest): how much of each document
--         stands elsewhere, each character once; of two collections of those of the first, of added documents of these; closest is
--         the document with which it shares the most words outside of families, of equal ones the first
WITH sums AS (
    SELECT
        doc,
        sum(CASE WHEN counted = 'passages' THEN characters ELSE 0 END) AS in_passages,
        sum(CASE WHEN counted = 'families' THEN characters ELSE 0 END) AS in_families,
        sum(CASE WHEN counted = 'reused' THEN characters ELSE 0 END) AS reused
    FROM covered
    GROUP BY doc
),
closest AS (
    SELECT doc, other, characters
    FROM (
        SELECT
            doc,
            other,
            characters,
            row_number() OVER (PARTITION BY doc ORDER BY unmarked DESC, characters DESC, other) AS rank
        FROM covered
        WHERE counted = 'other'
    )
    WHERE rank = 1
),
-- The lengths are computed where the texts are read, so that no text is joined.
lengths AS (
    SELECT 0 AS side, doc_id, character_length(text) AS characters FROM documents
    UNION ALL
    SELECT 1 AS side, doc_id, character_length(text) AS characters FROM against_documents
)
SELECT
    docs.doc_id,
    CAST(lengths.characters AS BIGINT) AS characters,
    coalesce(sums.in_passages, 0) AS in_passages,
    coalesce(sums.in_families, 0) AS in_families,
    coalesce(sums.reused, 0) AS reused,
    other.doc_id AS closest,
    coalesce(closest.characters, 0) AS shared_with_closest
FROM docs
JOIN lengths ON docs.side = lengths.side AND docs.doc_id = lengths.doc_id
LEFT JOIN sums ON docs.doc = sums.doc
LEFT JOIN closest ON docs.doc = closest.doc
LEFT JOIN docs AS other ON closest.other = other.doc
WHERE CASE WHEN $against THEN docs.side = 0 WHEN $add THEN docs.side = 1 ELSE true END
ORDER BY docs.doc
