-- reads:  matches(…)
-- writes: bins of length, each from a power of two up to the next, in characters
SELECT CAST(floor(log2(greatest(characters, 1))) AS BIGINT) AS bin, CAST(count(*) AS BIGINT) AS matches
FROM matches
GROUP BY bin
ORDER BY bin
