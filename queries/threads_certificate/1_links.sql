-- reads:  texts(text_id, field, set), occurrences(text_id, doc), docs(doc, doc_id)
-- writes: links(text_a, text_b): all similar texts of a sample of threads, those whose ids have a hash up to $last_hash
CREATE OR REPLACE TABLE links AS
WITH sampled AS (
    SELECT DISTINCT occurrences.text_id
    FROM occurrences JOIN docs ON occurrences.doc = docs.doc
    WHERE md5(docs.doc_id) <= $last_hash
)
SELECT a.text_id AS text_a, b.text_id AS text_b
FROM (SELECT texts.* FROM texts LEFT SEMI JOIN sampled ON texts.text_id = sampled.text_id) AS a
JOIN texts AS b ON jaccard(a.set, b.set) >= $least AND a.field = b.field AND a.text_id <> b.text_id
