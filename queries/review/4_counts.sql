-- reads:  verdicts(result, verdict, verdicts), lines(…)
-- writes: how many verdicts of each kind there are, how many rows have several ones, how many lines and results there are
SELECT
    CAST(count(*) AS BIGINT) AS rows,
    CAST(count(*) FILTER (WHERE verdict = 'same') AS BIGINT) AS same,
    CAST(count(*) FILTER (WHERE verdict = 'quotation') AS BIGINT) AS quotation,
    CAST(count(*) FILTER (WHERE verdict = 'boilerplate') AS BIGINT) AS boilerplate,
    CAST(count(*) FILTER (WHERE verdict = 'false') AS BIGINT) AS false_ones,
    CAST(count(*) FILTER (WHERE verdict = 'unsure') AS BIGINT) AS unsure,
    CAST(count(*) FILTER (WHERE verdicts > 1) AS BIGINT) AS contradicted,
    CAST(count(DISTINCT result) AS BIGINT) AS results
FROM verdicts
