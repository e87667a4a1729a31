-- reads:  texts(text_id, field, set), occurrences(text_id, doc), sample(doc)
-- writes: links(text_a, text_b): all similar texts of the sample of threads
CREATE OR REPLACE TABLE links AS
WITH sampled AS (
    SELECT DISTINCT occurrences.text_id FROM occurrences JOIN sample ON occurrences.doc = sample.doc
)
SELECT a.text_id AS text_a, b.text_id AS text_b
FROM (SELECT texts.* FROM texts LEFT SEMI JOIN sampled ON texts.text_id = sampled.text_id) AS a
JOIN texts AS b ON jaccard(a.set, b.set) >= $least AND a.field = b.field AND a.text_id <> b.text_id
