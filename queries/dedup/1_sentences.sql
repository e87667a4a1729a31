-- reads:  docs(doc, doc_id), sentences(doc_id, sent, char_start, char_end, byte_start, byte_end, text)
-- writes: pieces(doc, piece, text, char_start, char_end, byte_start, byte_end): what is compared, here the sentences of the
--         documents, each with its place
CREATE VIEW pieces AS
SELECT
    docs.doc,
    sentences.sent AS piece,
    sentences.text,
    sentences.char_start,
    sentences.char_end,
    sentences.byte_start,
    sentences.byte_end
FROM sentences
JOIN docs ON sentences.doc_id = docs.doc_id
