-- reads:  texts(text_id)
-- writes: sample(text_id): $sample distinct texts, those whose ids have the first hashes
CREATE TABLE sample AS
SELECT text_id FROM texts ORDER BY md5(CAST(text_id AS VARCHAR)), text_id LIMIT $sample
