-- reads:  doc_texts(doc, text), docs(doc, side, doc_id), placed(doc_a, doc_b, run, unmarked), located_families(doc, char_start,
--         char_end)
-- writes: coverage(doc_id, characters, in_passages, in_families, reused, closest, shared_with_closest): how much of each document
--         stands elsewhere, each character once; of two collections of those of the first, of added documents of these; closest is
--         the document with which it shares the most words outside of families, of equal ones the first
WITH shared AS (
    SELECT doc_a AS doc, doc_b AS other, run['char_a_start'] AS char_start, run['char_a_end'] AS char_end, unmarked FROM placed
    UNION ALL
    SELECT doc_b, doc_a, run['char_b_start'], run['char_b_end'], unmarked FROM placed
),
ranges AS (
    SELECT 'passages' AS counted, doc, CAST(NULL AS BIGINT) AS other, char_start, char_end, 0 AS unmarked FROM shared
    UNION ALL
    SELECT 'families', doc, NULL, char_start, char_end, 0 FROM located_families
    UNION ALL
    SELECT 'reused', doc, NULL, char_start, char_end, 0 FROM shared
    UNION ALL
    SELECT 'reused', doc, NULL, char_start, char_end, 0 FROM located_families
    UNION ALL
    SELECT 'other', doc, other, char_start, char_end, unmarked FROM shared WHERE doc <> other
),
covered AS (
    SELECT
        counted,
        doc,
        other,
        sum(greatest(char_end - greatest(char_start, coalesce(before, 0)), 0)) AS characters,
        sum(unmarked) AS unmarked
    FROM (
        SELECT
            *,
            max(char_end) OVER (
                PARTITION BY counted, doc, other ORDER BY char_start, char_end ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS before
        FROM ranges
    )
    GROUP BY counted, doc, other
),
sums AS (
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
)
SELECT
    docs.doc_id,
    CAST(character_length(doc_texts.text) AS BIGINT) AS characters,
    coalesce(sums.in_passages, 0) AS in_passages,
    coalesce(sums.in_families, 0) AS in_families,
    coalesce(sums.reused, 0) AS reused,
    other.doc_id AS closest,
    coalesce(closest.characters, 0) AS shared_with_closest
FROM docs
JOIN doc_texts ON docs.doc = doc_texts.doc
LEFT JOIN sums ON docs.doc = sums.doc
LEFT JOIN closest ON docs.doc = closest.doc
LEFT JOIN docs AS other ON closest.other = other.doc
WHERE CASE WHEN $against THEN docs.side = 0 WHEN $add THEN docs.side = 1 ELSE true END
ORDER BY docs.doc
