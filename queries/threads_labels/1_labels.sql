-- reads:  the file $labels(id_a, id_b, and the column $label)
-- writes: labels(id_a, id_b, label): pairs of threads that people found to be duplicates, or not; NULL says nothing
CREATE TABLE labels AS
SELECT CAST(id_a AS VARCHAR) AS id_a, CAST(id_b AS VARCHAR) AS id_b, CAST($label AS BOOLEAN) AS label
FROM $labels
WHERE $label IS NOT NULL
