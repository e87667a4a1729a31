-- reads:  texts(text_id, set)
-- writes: sample_links(text_a, text_b, similarity): all similar texts of a sample of texts, those whose ids have a hash up to
--         $last_hash
CREATE TABLE sample_links AS
SELECT DISTINCT least(text_a, text_b) AS text_a, greatest(text_a, text_b) AS text_b, similarity
FROM (
    SELECT a.text_id AS text_a, b.text_id AS text_b, jaccard(a.set, b.set) AS similarity
    FROM (SELECT text_id, set FROM texts WHERE md5(CAST(text_id AS VARCHAR)) <= $last_hash) AS a
    JOIN texts AS b ON jaccard(a.set, b.set) >= $threshold AND a.text_id <> b.text_id
)
