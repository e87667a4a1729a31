-- reads:  shared(text_a, text_b), texts(text_id, set)
-- writes: links(text_a, text_b): the texts of a field that are similar enough to found a pair. The sets are compared, since
--         lists that were left out would make the count of the shared elements too low
CREATE TABLE links AS
SELECT shared.text_a, shared.text_b
FROM shared JOIN texts AS a ON shared.text_a = a.text_id JOIN texts AS b ON shared.text_b = b.text_id
-- The pairs are already known, so no similarity join is needed.
WHERE coalesce(jaccard(a.set, b.set), 0) >= $least
