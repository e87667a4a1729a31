-- reads:  doc_texts(doc, side, text)
-- writes: sequences(doc, side, words): the words of each document, ready to be aligned
CREATE TABLE sequences AS
SELECT doc, side, word_sequence(text) AS words FROM doc_texts
