-- reads:  labels(id_a, id_b, label)
-- writes: the pairs whose labels contradict each other
SELECT id_a, id_b FROM labels WHERE label IS NULL ORDER BY id_a, id_b
