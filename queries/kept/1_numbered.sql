-- reads:  documents(doc_id)
-- writes: numbered(doc_id, position): the documents in the order of their file, which one partition reads from its beginning to its end
CREATE VIEW numbered AS SELECT doc_id, CAST(row_number() OVER () AS BIGINT) - 1 AS position FROM documents
