-- reads:  result_sources(source, documents, characters, characters_removed, removed)
-- writes: the sources that lose most
SELECT coalesce(source, '') AS source, documents, characters, characters_removed
FROM result_sources
ORDER BY characters_removed DESC, source
LIMIT 50
