-- reads:  scores(threshold, precision, low)
-- writes: the least thresholds from which on the precision $precision is reached by what was judged, and with 97.5 % certainty
SELECT
    CAST(min(threshold) FILTER (WHERE precision >= $precision) AS DOUBLE) AS reached,
    CAST(min(threshold) FILTER (WHERE low >= $precision) AS DOUBLE) AS certain
FROM scores
