-- reads:  located_families(family, doc, char_start, char_end)
-- writes: one row: how many families there are, and how many documents and characters are in them, each once
SELECT
    count(DISTINCT family) AS families,
    count(DISTINCT doc) AS documents,
    CAST(coalesce(sum(greatest(char_end - greatest(char_start, coalesce(before, 0)), 0)), 0) AS BIGINT) AS characters
FROM (
    SELECT
        *,
        max(char_end) OVER (
            PARTITION BY doc ORDER BY char_start, char_end ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before
    FROM located_families
)
