-- reads:  quotations(doc, parts), docs(doc, side, doc_id), documents(doc_id, text), sentences(doc_id, char_start, char_end,
--         byte_start)
-- writes: quotation_places(doc, unit, text, sent, char_start, char_end): where these parts stand, and their text; those that are one
--         sentence are searched anyway
CREATE TABLE quotation_places AS
WITH starts AS (
    SELECT docs.doc, array_sort(array_agg(sentences.byte_start)) AS starts
    FROM sentences
    JOIN docs ON sentences.doc_id = docs.doc_id AND docs.side = 0
    LEFT SEMI JOIN quotations ON docs.doc = quotations.doc
    GROUP BY docs.doc
),
located AS (
    SELECT doc, doc_id, text, unnest(located_words(text, parts, starts)) AS place
    FROM (
        SELECT docs.doc, docs.doc_id, documents.text, quotations.parts, starts.starts
        FROM quotations
        JOIN docs ON quotations.doc = docs.doc
        JOIN documents ON docs.doc_id = documents.doc_id
        JOIN starts ON quotations.doc = starts.doc
    )
),
placed AS (
    SELECT
        doc,
        doc_id,
        substr(text, place['char_start'] + 1, place['char_end'] - place['char_start']) AS text,
        place['sent_start'] AS sent,
        place['char_start'] AS char_start,
        place['char_end'] AS char_end
    FROM located
)
SELECT
    placed.doc,
    -- These unit numbers come after those of the sentences.
    placed.doc * 4294967296 + 2147483647
        + CAST(row_number() OVER (PARTITION BY placed.doc ORDER BY placed.char_start, placed.char_end) AS BIGINT) AS unit,
    placed.text,
    placed.sent,
    placed.char_start,
    placed.char_end
FROM placed
LEFT ANTI JOIN sentences
    ON placed.doc_id = sentences.doc_id
    AND placed.char_start = sentences.char_start
    AND placed.char_end = sentences.char_end
