-- reads:  label_rows(id_a, id_b, given, label)
-- writes: the rows whose label says neither that the two are duplicates nor that they are not
SELECT coalesce(id_a, 'NULL') AS id_a, coalesce(id_b, 'NULL') AS id_b, given
FROM label_rows
WHERE given IS NOT NULL AND label IS NULL
ORDER BY given, id_a, id_b
