-- reads:  texts(text_id, set), sample(text_id)
-- writes: sample_links(text_a, text_b, similarity): all similar texts of the sample
CREATE TABLE sample_links AS
SELECT DISTINCT least(text_a, text_b) AS text_a, greatest(text_a, text_b) AS text_b, similarity
FROM (
    SELECT a.text_id AS text_a, b.text_id AS text_b, jaccard(a.set, b.set) AS similarity
    FROM (SELECT texts.* FROM texts LEFT SEMI JOIN sample ON texts.text_id = sample.text_id) AS a
    JOIN texts AS b ON jaccard(a.set, b.set) >= $threshold AND a.text_id <> b.text_id
)
