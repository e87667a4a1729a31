-- reads:  compared_texts(doc, side, text)
-- writes: searched(doc, words): the words of the documents in which runs are looked for, here of all
CREATE VIEW searched AS
SELECT doc, word_sequence(text) AS words FROM compared_texts WHERE side = 0
