-- reads:  sample_links(text_a, text_b), links(text_a, text_b)
-- writes: one row, over the sampled texts: the sums of the pairs of each and of those found, and of their squares and products
WITH marked AS (
    SELECT sample_links.text_a, sample_links.text_b, links.text_a IS NOT NULL AS is_found
    FROM sample_links
    LEFT JOIN links ON sample_links.text_a = links.text_a AND sample_links.text_b = links.text_b
),
sampled AS (
    SELECT count(*) AS pairs, sum(CAST(is_found AS BIGINT)) AS found
    FROM (SELECT text_a AS text_id, is_found FROM marked UNION ALL SELECT text_b AS text_id, is_found FROM marked)
    WHERE md5(CAST(text_id AS VARCHAR)) <= $last_hash
    GROUP BY text_id
)
SELECT
    CAST(coalesce(sum(pairs), 0) AS BIGINT) AS pairs,
    CAST(coalesce(sum(found), 0) AS BIGINT) AS found,
    CAST(coalesce(sum(pairs * pairs), 0) AS BIGINT) AS pairs_squared,
    CAST(coalesce(sum(pairs * found), 0) AS BIGINT) AS pairs_found,
    CAST(coalesce(sum(found * found), 0) AS BIGINT) AS found_squared
FROM sampled
