-- reads:  placed(position, byte_start, byte_end)
-- writes: what is cut out of the documents, by their positions: from the first byte of a passage up to and without the last; passages that
--         overlap are one
WITH begun AS (
    SELECT
        *,
        coalesce(
            byte_start > max(byte_end) OVER (
                PARTITION BY position ORDER BY byte_start, byte_end ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ),
            true
        ) AS begins
    FROM (SELECT DISTINCT position, byte_start, byte_end FROM placed WHERE byte_start IS NOT NULL)
),
merged AS (
    SELECT
        *,
        sum(CASE WHEN begins THEN 1 ELSE 0 END) OVER (
            PARTITION BY position ORDER BY byte_start, byte_end ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS part
    FROM begun
)
SELECT position, min(byte_start) AS byte_start, max(byte_end) AS byte_end
FROM merged
GROUP BY position, part
ORDER BY position, byte_start
