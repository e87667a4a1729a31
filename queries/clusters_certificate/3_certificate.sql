-- reads:  sample_links(text_a, text_b, similarity), links(text_a, text_b)
-- writes: certificate(similarity_from, pairs, found, recall, expected): by similarity, in steps of a twentieth, the pairs of the
--         sample and those found; expected is the mean of the chance that $bands signatures of $rows minhashes find a pair,
--         1 - (1 - s^rows)^bands, summed in billionths; NULL where an exact join was asked for
CREATE TABLE certificate AS
SELECT
    similarity_from,
    count(*) AS pairs,
    count(text_a) AS found,
    count(text_a) / CAST(count(*) AS DOUBLE) AS recall,
    CASE WHEN $is_lsh THEN sum(chance) / 1e9 / count(*) END AS expected
FROM (
    SELECT
        floor(sample_links.similarity * 20 + 1e-9) / 20 AS similarity_from,
        CAST(round(1e9 * (1 - power(1 - power(sample_links.similarity, $rows), $bands))) AS BIGINT) AS chance,
        links.text_a
    FROM sample_links
    LEFT JOIN links ON sample_links.text_a = links.text_a AND sample_links.text_b = links.text_b
)
GROUP BY similarity_from
