-- reads:  target/demo/reuse/passages.parquet, target/demo/corpus/documents.parquet
-- writes: the longest passage that two licences of different names share, the longest of all first
SELECT
    sentences,
    a.family AS licence,
    char_a_start || '–' || char_a_end AS characters,
    b.family AS "also in",
    char_b_start || '–' || char_b_end AS at,
    substr(regexp_replace(substr(a.text, char_a_start + 1, 60), '\s+', ' ', 'g'), 1, 26) AS "first words"
FROM 'target/demo/reuse/passages.parquet' AS p
JOIN 'target/demo/corpus/documents.parquet' AS a ON p.doc_a = a.doc_id
JOIN 'target/demo/corpus/documents.parquet' AS b ON p.doc_b = b.doc_id
-- Versions of one licence have the first part of their names in common.
WHERE split_part(a.family, '-', 1) <> split_part(b.family, '-', 1)
QUALIFY row_number() OVER (
    PARTITION BY
        least(split_part(a.family, '-', 1), split_part(b.family, '-', 1)),
        greatest(split_part(a.family, '-', 1), split_part(b.family, '-', 1))
    ORDER BY sentences DESC, gaps, doc_a, doc_b
) = 1
ORDER BY sentences DESC, licence, "also in"
LIMIT 12;
