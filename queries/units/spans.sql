-- reads:  docs(doc, side, doc_id), sentences and against_sentences(doc_id, sent, char_start … byte_end)
-- writes: spans(doc, sent, char_start, char_end, byte_start, byte_end): where each sentence stands in its document
CREATE TABLE spans AS
SELECT docs.doc, s.sent, s.char_start, s.char_end, s.byte_start, s.byte_end
FROM sentences AS s JOIN docs ON s.doc_id = docs.doc_id AND docs.side = 0
UNION ALL
SELECT docs.doc, s.sent, s.char_start, s.char_end, s.byte_start, s.byte_end
FROM against_sentences AS s JOIN docs ON s.doc_id = docs.doc_id AND docs.side = 1
