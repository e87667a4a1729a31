-- reads:  compared_texts(doc, side, text), scores(doc)
-- writes: searched(doc, words): the words of the documents in which runs are looked for, here of those that contain items
CREATE VIEW searched AS
SELECT compared_texts.doc, word_sequence(compared_texts.text) AS words
FROM compared_texts LEFT SEMI JOIN scores ON compared_texts.doc = scores.doc
WHERE compared_texts.side = 0
