-- reads:  scores(doc_a, doc_b), doc_sentences(doc, words)
-- writes: found_sentences(doc, words): the sentences of the documents that were found, made once for both sides of a pair
CREATE TABLE found_sentences AS
SELECT doc_sentences.*
FROM doc_sentences
LEFT SEMI JOIN (SELECT doc_a AS doc FROM scores UNION SELECT doc_b AS doc FROM scores) AS found ON doc_sentences.doc = found.doc
