-- reads:  stretches(doc, is_whole), gone(characters), units(text)
-- writes: one row: how many pieces there are, here documents, how many characters they have, how many of these go, and how many documents go
--         with all of their words
SELECT
    (SELECT CAST(count(*) AS BIGINT) FROM units) AS pieces,
    (SELECT CAST(coalesce(sum(character_length(text)), 0) AS BIGINT) FROM units) AS characters,
    (SELECT CAST(coalesce(sum(characters), 0) AS BIGINT) FROM gone) AS characters_removed,
    (SELECT CAST(count(DISTINCT doc) AS BIGINT) FROM stretches WHERE is_whole) AS documents_removed
