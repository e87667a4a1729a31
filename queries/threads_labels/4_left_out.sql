-- reads:  label_rows(id_a, id_b, label), labels(row_count)
-- writes: one row: how many rows lack an id or a label, are of a thread with itself, and are of a pair that stands before
SELECT
    (SELECT count(*) FROM label_rows WHERE id_a IS NULL OR id_b IS NULL OR label IS NULL) AS incomplete,
    (SELECT count(*) FROM label_rows WHERE id_a = id_b AND label IS NOT NULL) AS of_itself,
    (SELECT CAST(coalesce(sum(row_count - 1), 0) AS BIGINT) FROM labels) AS repeated
