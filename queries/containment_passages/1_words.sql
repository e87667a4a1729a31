-- reads:  scores(doc_a, doc_b), units(unit, side, doc, text) of sentences
-- writes: places(doc, place, sent, text): the sentences of the documents found, numbered without those that have no words; of
--         two that are word for word the same, text is the same
CREATE TABLE places AS
SELECT
    doc,
    CAST(row_number() OVER (PARTITION BY doc ORDER BY unit) AS INT) - 1 AS place,
    CAST(unit % 4294967296 AS INT) AS sent,
    md5(words) AS text
FROM (
    SELECT units.doc, units.unit, array_to_string(words(normalize(units.text)), ' ') AS words
    FROM units
    LEFT SEMI JOIN (SELECT doc_a AS doc FROM scores UNION SELECT doc_b AS doc FROM scores) AS ends ON units.doc = ends.doc
)
WHERE words <> ''
