-- reads:  sample_links(text_a, text_b), links(text_a, text_b), sample(text_id)
-- writes: sampled(pairs, found): of each sampled text how many pairs it has, and how many of them were found
CREATE TABLE sampled AS
WITH marked AS (
    SELECT sample_links.text_a, sample_links.text_b, links.text_a IS NOT NULL AS is_found
    FROM sample_links
    LEFT JOIN links ON sample_links.text_a = links.text_a AND sample_links.text_b = links.text_b
)
SELECT count(*) AS pairs, sum(CAST(is_found AS BIGINT)) AS found
FROM (SELECT text_a AS text_id, is_found FROM marked UNION ALL SELECT text_b AS text_id, is_found FROM marked) AS ends
LEFT SEMI JOIN sample ON ends.text_id = sample.text_id
GROUP BY text_id
