-- reads:  matches(…)
-- writes: bins of similarity, each a twentieth; that of 1 is apart, as equal texts are many
SELECT CAST(floor(least(similarity, 1) * 20) AS BIGINT) AS bin, CAST(count(*) AS BIGINT) AS matches
FROM matches
WHERE similarity IS NOT NULL
GROUP BY bin
ORDER BY bin
