-- reads:  shared(text_a, text_b), texts(text_id, set, threads, against_threads)
-- writes: links(text_a, text_b): the texts of a field that are similar enough to found a pair. The sets are compared, since
--         lists that were left out would make the count of the shared elements too low
CREATE TABLE links AS
SELECT shared.text_a, shared.text_b
FROM shared JOIN texts AS a ON shared.text_a = a.text_id JOIN texts AS b ON shared.text_b = b.text_id
WHERE
    jaccard(a.set, b.set) >= $least
    AND (
        NOT $against
        OR (a.threads > a.against_threads AND b.against_threads > 0)
        OR (a.against_threads > 0 AND b.threads > b.against_threads)
    )
