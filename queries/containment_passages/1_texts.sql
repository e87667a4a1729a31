-- reads:  scores(doc_a, doc_b), occurrences(text_id, unit, doc) of sentences
-- writes: places(doc, place, sent, text): the sentences of the documents found, numbered without those that have no words; of
--         two that have the same set, text is the same
CREATE TABLE places AS
SELECT
    occurrences.doc,
    CAST(row_number() OVER (PARTITION BY occurrences.doc ORDER BY occurrences.unit) AS INT) - 1 AS place,
    CAST(occurrences.unit % 4294967296 AS INT) AS sent,
    occurrences.text_id AS text
FROM occurrences
LEFT SEMI JOIN (SELECT doc_a AS doc FROM scores UNION SELECT doc_b AS doc FROM scores) AS ends ON occurrences.doc = ends.doc
