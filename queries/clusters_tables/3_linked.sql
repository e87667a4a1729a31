-- reads:  links(text_a, text_b), texts(text_id, units), units(unit, doc, text), docs(doc, doc_id), cited(unit)
-- writes: linked(unit, doc_id, sent, places, cited, text): the texts that have links, each at its first place, in how many it
--         stands, and whether that is a section of references
CREATE TABLE linked AS
SELECT
    units.unit,
    docs.doc_id,
    CAST(units.unit % 4294967296 AS INT) AS sent,
    texts.units AS places,
    cited.unit IS NOT NULL AS cited,
    units.text
FROM units
LEFT SEMI JOIN (SELECT text_a AS unit FROM links UNION ALL SELECT text_b AS unit FROM links) AS ends ON units.unit = ends.unit
JOIN (SELECT text_id, units FROM texts) AS texts ON units.unit = texts.text_id
JOIN docs ON units.doc = docs.doc
LEFT JOIN cited ON units.unit = cited.unit
