-- reads:  matches(…)
-- writes: the documents that share most, with how many others they do, in how many matches, and how many characters these have
SELECT
    doc_id,
    CAST(count(DISTINCT other) AS BIGINT) AS others,
    CAST(count(*) AS BIGINT) AS matches,
    CAST(sum(characters) AS BIGINT) AS characters
FROM (
    SELECT 0 AS side, doc_a AS doc_id, doc_b AS other, characters FROM matches
    UNION ALL
    SELECT $side_b AS side, doc_b AS doc_id, doc_a AS other, characters FROM matches
)
GROUP BY side, doc_id
ORDER BY characters DESC, side, doc_id
LIMIT 20
