-- reads:  verdicts(…)
-- writes: the same, in order
SELECT * FROM verdicts ORDER BY result, key
