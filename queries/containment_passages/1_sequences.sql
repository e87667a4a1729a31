-- reads:  scores(doc_a, doc_b), doc_texts(doc, text)
-- writes: sequences(doc, words): the words of the documents found, ready to be aligned
CREATE TABLE sequences AS
SELECT doc_texts.doc, word_sequence(doc_texts.text) AS words
FROM doc_texts
LEFT SEMI JOIN (SELECT doc_a AS doc FROM scores UNION SELECT doc_b AS doc FROM scores) AS found ON doc_texts.doc = found.doc
