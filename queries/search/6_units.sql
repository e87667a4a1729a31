-- reads:  docs(doc, side, doc_id), sentences(doc_id, sent, text), quotation_places(doc, unit, text), against_documents(doc_id, text)
-- writes: units(unit, side, doc, text): the sentences that are searched, what may be quotations of several sentences, and the texts
--         to look for, each as a whole
CREATE OR REPLACE VIEW units AS
SELECT docs.doc * 4294967296 + sentences.sent AS unit, docs.side, docs.doc, sentences.text
FROM sentences JOIN docs ON sentences.doc_id = docs.doc_id AND docs.side = 0
UNION ALL
SELECT unit, 0 AS side, doc, text FROM quotation_places
UNION ALL
SELECT docs.doc * 4294967296 AS unit, docs.side, docs.doc, against_documents.text
FROM against_documents JOIN docs ON against_documents.doc_id = docs.doc_id AND docs.side = 1
