-- reads:  comparison(method, options, precision … cpu_seconds)
-- writes: the same for people
SELECT
    method,
    options,
    round(precision, 3) AS precision,
    round(recall, 3) AS recall,
    round(f1, 3) AS f1,
    found,
    unlabelled,
    round(score_error, 3) AS score_error,
    round(back_error, 3) AS back_error,
    round(direction_right, 3) AS direction_right,
    round(compared, 1) AS compared,
    round(steps, 1) AS steps,
    round(seconds, 3) AS seconds,
    round(cpu_seconds, 3) AS cpu_seconds
FROM comparison
