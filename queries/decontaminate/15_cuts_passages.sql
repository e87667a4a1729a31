-- reads:  stretches(doc, word_start, word_end), places(doc, word_start, word_end, byte_start, byte_end), positions(doc, position)
-- writes: what is cut out of the documents, by their positions: from the first byte of a stretch up to and without the last; those that
--         overlap are one
WITH cut AS (
    SELECT DISTINCT positions.position, places.byte_start, places.byte_end
    FROM stretches
    JOIN places
        ON stretches.doc = places.doc
        AND stretches.word_start = places.word_start
        AND stretches.word_end = places.word_end
    JOIN positions ON stretches.doc = positions.doc
),
begun AS (
    SELECT
        *,
        coalesce(
            byte_start > max(byte_end) OVER (
                PARTITION BY position ORDER BY byte_start, byte_end ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ),
            true
        ) AS begins
    FROM cut
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
