-- reads:  sources(source, documents, characters, characters_removed, removed)
-- writes: the same of the sources that lose most of what they have
SELECT * FROM sources WHERE removed > 0.9 ORDER BY source
