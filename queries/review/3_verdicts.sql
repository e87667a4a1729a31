-- reads:  lines(…)
-- writes: verdicts(result, key, verdict, note, method, similarity, at, verdicts): the last one of each row of a result, by its time and then
--         by file and line, and how many different ones were given
CREATE TABLE verdicts AS
WITH numbered AS (
    SELECT *, row_number() OVER (PARTITION BY result, key ORDER BY at DESC, file DESC, record DESC) AS place FROM lines
),
given AS (
    SELECT result, key, CAST(count(DISTINCT verdict) AS BIGINT) AS verdicts FROM lines GROUP BY result, key
)
SELECT
    numbered.result,
    numbered.key,
    numbered.verdict,
    numbered.note,
    numbered.method,
    numbered.similarity,
    numbered.at,
    given.verdicts
FROM numbered JOIN given ON numbered.result = given.result AND numbered.key = given.key
WHERE numbered.place = 1
