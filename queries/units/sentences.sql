-- reads:  docs, sentences(doc_id, sent, text), against_sentences(doc_id, sent, text)
-- writes: units(unit, side, doc, text): the texts to compare, here sentences
CREATE OR REPLACE VIEW units AS
SELECT docs.doc * 4294967296 + sentences.sent AS unit, docs.side, docs.doc, sentences.text
FROM sentences JOIN docs ON sentences.doc_id = docs.doc_id AND docs.side = 0
UNION ALL
SELECT docs.doc * 4294967296 + against_sentences.sent AS unit, docs.side, docs.doc, against_sentences.text
FROM against_sentences JOIN docs ON against_sentences.doc_id = docs.doc_id AND docs.side = 1
