-- reads:  parts(doc, word_start, word_end), sentence_starts(doc, starts), docs(doc, side, doc_id), documents and
--         against_documents(doc_id, text)
-- writes: places(doc, word_start, word_end, char_start … sent_end): where these parts stand in their documents
CREATE TABLE places AS
WITH gathered AS (
    SELECT doc, array_agg(named_struct('word_start', word_start, 'word_end', word_end)) AS parts FROM parts GROUP BY doc
),
wanted AS (
    SELECT docs.side, docs.doc_id, docs.doc, gathered.parts, sentence_starts.starts
    FROM gathered
    JOIN sentence_starts ON gathered.doc = sentence_starts.doc
    JOIN docs ON gathered.doc = docs.doc
),
texts AS (
    SELECT 0 AS side, doc_id, text FROM documents
    UNION ALL
    SELECT 1 AS side, doc_id, text FROM against_documents
)
SELECT
    doc,
    place['word_start'] AS word_start,
    place['word_end'] AS word_end,
    place['char_start'] AS char_start,
    place['char_end'] AS char_end,
    place['byte_start'] AS byte_start,
    place['byte_end'] AS byte_end,
    place['sent_start'] AS sent_start,
    place['sent_end'] AS sent_end
FROM (
    SELECT wanted.doc, unnest(located_words(texts.text, wanted.parts, wanted.starts)) AS place
    -- Texts are joined last, so that they are sorted once at most.
    FROM wanted JOIN texts ON wanted.side = texts.side AND wanted.doc_id = texts.doc_id
)
