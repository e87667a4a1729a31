-- reads:  docs(doc, doc_id)
-- writes: sample(doc): $sample threads, those whose ids have the first hashes
CREATE TABLE sample AS
SELECT doc FROM docs ORDER BY md5(doc_id), doc LIMIT $sample
