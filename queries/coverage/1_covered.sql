-- reads:  placed(doc_a, doc_b, run, unmarked), located_families(doc, char_start, char_end)
-- writes: covered(counted, doc, other, characters, unmarked): how many characters of each document lie in what is counted: passages,
--         families, what is reused, which is either of them, and what it shares with each other document; each character once
CREATE OR REPLACE TABLE covered AS
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
)
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
