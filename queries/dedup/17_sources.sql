-- reads:  documents(doc_id, text, …), docs(doc, doc_id), gone(doc, characters)
-- writes: sources(source, documents, characters, characters_removed, removed): what each source, $source, loses; `removed` is a share
CREATE TABLE sources AS
SELECT
    CAST(documents.$source AS VARCHAR) AS source,
    CAST(count(*) AS BIGINT) AS documents,
    CAST(sum(character_length(documents.text)) AS BIGINT) AS characters,
    CAST(coalesce(sum(gone.characters), 0) AS BIGINT) AS characters_removed,
    CAST(coalesce(sum(gone.characters), 0) AS DOUBLE) / greatest(sum(character_length(documents.text)), 1) AS removed
FROM documents
JOIN docs ON documents.doc_id = docs.doc_id
LEFT JOIN gone ON docs.doc = gone.doc
GROUP BY 1
