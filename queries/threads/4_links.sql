-- reads:  texts(text_id, field, set, threads, against_threads)
-- writes: links(text_a, text_b): the texts of a field that are similar enough to found a pair. The score is a mean of the
--         similarities of the fields, so where it reaches the threshold, one of them does
CREATE OR REPLACE TABLE links AS
SELECT a.text_id AS text_a, b.text_id AS text_b
-- For two collections, a text of each, and only once if both collections have both texts.
FROM (SELECT * FROM texts WHERE NOT $against OR threads > against_threads) AS a
JOIN (SELECT * FROM texts WHERE NOT $against OR against_threads > 0) AS b
    ON jaccard(a.set, b.set) >= $least
    AND a.field = b.field
    AND (
        a.text_id < b.text_id
        OR ($against AND a.text_id > b.text_id AND (a.against_threads = 0 OR b.threads = b.against_threads))
    )
