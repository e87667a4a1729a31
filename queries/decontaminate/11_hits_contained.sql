-- reads:  scores(doc, item, score, items), runs(doc, item, word_start, word_end, item_word_start, item_word_end)
-- writes: hits(doc, item, word_start, word_end, item_word_start, item_word_end, rule, share, items): each document that contains an item
--         with the runs that they share, or without a place where there are none
CREATE TABLE hits AS
SELECT
    scores.doc,
    scores.item,
    runs.word_start,
    runs.word_end,
    runs.item_word_start,
    runs.item_word_end,
    'contained' AS rule,
    scores.score AS share,
    scores.items
FROM runs RIGHT JOIN scores ON runs.doc = scores.doc AND runs.item = scores.item
