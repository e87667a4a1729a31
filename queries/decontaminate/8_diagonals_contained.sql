-- reads:  stretched(doc, of_item, k, stretch, gram, word), grams(item, k, gram, word, again)
-- writes: diagonals(doc, of_item, k, stretch, item, shift): the same with the item that the document contains, each run from where it first
--         stands in it
CREATE TABLE diagonals AS
SELECT DISTINCT firsts.doc, firsts.of_item, firsts.k, firsts.stretch, firsts.of_item AS item, firsts.word - own.word AS shift
FROM (SELECT doc, of_item, k, stretch, gram, min(word) AS word FROM stretched GROUP BY doc, of_item, k, stretch, gram) AS firsts
JOIN (SELECT item, k, gram, word FROM grams WHERE NOT again) AS own
    ON firsts.of_item = own.item AND firsts.gram = own.gram AND firsts.k = own.k
