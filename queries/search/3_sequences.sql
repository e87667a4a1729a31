-- reads:  docs(doc, side, doc_id), documents and against_documents(doc_id, text)
-- writes: sequences(doc, side, words): the words of the texts to look for that have more than one sentence and, if there are some,
--         of all documents
CREATE TABLE sequences AS
WITH quoted AS (
    SELECT docs.doc, docs.side, against_documents.text
    FROM against_documents JOIN docs ON against_documents.doc_id = docs.doc_id AND docs.side = 1
    WHERE cardinality(sentences(against_documents.text)) > 1
)
SELECT doc, side, word_sequence(text) AS words FROM quoted
UNION ALL
SELECT docs.doc, docs.side, word_sequence(documents.text) AS words
FROM documents JOIN docs ON documents.doc_id = docs.doc_id AND docs.side = 0
WHERE (SELECT count(*) FROM quoted) > 0
