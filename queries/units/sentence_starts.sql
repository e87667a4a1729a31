-- reads:  docs(doc, side, doc_id), sentences and against_sentences(doc_id, byte_start)
-- writes: sentence_starts(doc, starts): the first byte of each sentence of each document, ascending
CREATE TABLE sentence_starts AS
SELECT doc, array_sort(array_agg(byte_start)) AS starts
FROM (
    SELECT docs.doc, s.byte_start FROM sentences AS s JOIN docs ON s.doc_id = docs.doc_id AND docs.side = 0
    UNION ALL
    SELECT docs.doc, s.byte_start FROM against_sentences AS s JOIN docs ON s.doc_id = docs.doc_id AND docs.side = 1
)
GROUP BY doc
