-- reads:  label_rows(id_a, id_b, label)
-- writes: labels(id_a, id_b, label, row_count): each labelled pair once, whichever of the two comes first within a collection;
--         the label is NULL where rows contradict each other
CREATE TABLE labels AS
WITH ordered AS (
    SELECT
        id_a,
        label,
        CASE WHEN $against OR id_a < id_b THEN id_a ELSE id_b END AS low,
        CASE WHEN $against OR id_a < id_b THEN id_b ELSE id_a END AS high
    FROM label_rows
    WHERE id_a <> id_b AND label IS NOT NULL
)
SELECT
    min(id_a) AS id_a,
    CASE WHEN min(id_a) = low THEN high ELSE low END AS id_b,
    CASE WHEN bool_and(label) = bool_or(label) THEN bool_and(label) END AS label,
    count(*) AS row_count
FROM ordered
GROUP BY low, high
