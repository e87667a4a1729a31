-- reads:  matches(…)
-- writes: the cells of a grid of $bins by $bins in which matches of the documents $plot_a and $plot_b lie, row by row, with the greatest
--         similarity of each, from 0 to 255
WITH steps AS (
    SELECT
        sent_a_start,
        sent_a_end,
        sent_b_start,
        sent_b_end,
        similarity,
        steps,
        unnest(range(0, steps)) AS step
    FROM (
        SELECT *, greatest(sent_a_end - sent_a_start, sent_b_end - sent_b_start, 1) AS steps
        FROM matches
        WHERE doc_a = $plot_a AND doc_b = $plot_b AND sent_a_start IS NOT NULL AND sent_b_start IS NOT NULL
    )
),
cells AS (
    SELECT
        least((sent_a_start + step * (sent_a_end - sent_a_start) / steps) * $bins / $sentences_a, $bins - 1) AS a,
        least((sent_b_start + step * (sent_b_end - sent_b_start) / steps) * $bins / $sentences_b, $bins - 1) AS b,
        similarity
    FROM steps
)
SELECT
    CAST(a * $bins + b AS BIGINT) AS cell,
    CAST(round(max(least(coalesce(similarity, 1), 1)) * 255) AS BIGINT) AS level
FROM cells
GROUP BY a, b
ORDER BY cell
