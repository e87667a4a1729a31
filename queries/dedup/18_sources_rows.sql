-- reads:  sources(source, documents, characters, characters_removed, removed)
-- writes: the same, in the order of their names
SELECT * FROM sources ORDER BY source
