-- reads:  runs(doc, item, word_start, word_end, item_word_start, item_word_end), stretches(doc, word_start, word_end)
-- writes: parts(doc, word_start, word_end): the words of documents and items that are to be located
CREATE VIEW parts AS
SELECT doc, word_start, word_end FROM runs
UNION
SELECT item, item_word_start, item_word_end FROM runs
UNION
SELECT doc, word_start, word_end FROM stretches
