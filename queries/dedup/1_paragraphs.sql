-- reads:  documents(doc_id, text), docs(doc, doc_id)
-- writes: pieces(doc, piece, text, char_start, char_end, byte_start, byte_end): what is compared, here the paragraphs of the
--         documents, each with its place
CREATE TABLE pieces AS
SELECT
    doc,
    paragraph['paragraph'] AS piece,
    paragraph['text'] AS text,
    paragraph['char_start'] AS char_start,
    paragraph['char_end'] AS char_end,
    paragraph['byte_start'] AS byte_start,
    paragraph['byte_end'] AS byte_end
FROM (
    SELECT docs.doc, unnest(paragraphs(documents.text)) AS paragraph
    FROM documents JOIN docs ON documents.doc_id = docs.doc_id
)
