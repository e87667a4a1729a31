-- reads:  scores(doc, item), grams(item, k, gram, word), met(doc, k, gram, word)
-- writes: diagonals(doc, item, shift): the runs that a document and an item that it contains have in common, by how many words they are
--         shifted; each from where it first stands in the item
CREATE TABLE diagonals AS
SELECT DISTINCT met.doc, firsts.item, met.word - firsts.word AS shift
FROM scores
JOIN (SELECT item, k, gram, min(word) AS word FROM grams GROUP BY item, k, gram) AS firsts ON scores.item = firsts.item
JOIN met ON scores.doc = met.doc AND firsts.gram = met.gram AND firsts.k = met.k
