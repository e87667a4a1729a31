-- reads:  verdicts(verdict, similarity)
-- writes: scores(threshold, judged, right, precision, low, high): of the rows at each similarity and above how many were judged, how many of
--         them are reuse ($right), the share of these, and the interval that has it with 95 % certainty (Wilson 1927)
CREATE VIEW scores AS
WITH levels AS (
    SELECT similarity, count(*) AS judged, sum(CASE WHEN verdict IN ($right) THEN 1 ELSE 0 END) AS right
    FROM verdicts
    WHERE similarity IS NOT NULL AND verdict <> 'unsure'
    GROUP BY similarity
),
sums AS (
    SELECT
        similarity AS threshold,
        CAST(sum(judged) OVER (ORDER BY similarity DESC) AS BIGINT) AS judged,
        CAST(sum(right) OVER (ORDER BY similarity DESC) AS BIGINT) AS right
    FROM levels
),
shares AS (
    SELECT *, CAST(right AS DOUBLE) / judged AS precision, 3.841458820694124 / judged AS z FROM sums
)
SELECT
    threshold,
    judged,
    right,
    precision,
    round(greatest((precision + z / 2 - sqrt(z * (precision * (1 - precision) + z / 4))) / (1 + z), 0), 12) AS low,
    round(least((precision + z / 2 + sqrt(z * (precision * (1 - precision) + z / 4))) / (1 + z), 1), 12) AS high
FROM shares
ORDER BY threshold DESC
