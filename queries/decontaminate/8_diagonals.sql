-- reads:  stretched(doc, of_item, k, stretch, gram, word), owned(k, gram, item, word)
-- writes: diagonals(doc, of_item, k, stretch, item, shift): the items that have a run in common with a stretch, and by how many words it is
--         shifted; of a run that stands in it several times the first
CREATE TABLE diagonals AS
SELECT DISTINCT firsts.doc, firsts.of_item, firsts.k, firsts.stretch, owned.item, firsts.word - owned.word AS shift
FROM (SELECT doc, of_item, k, stretch, gram, min(word) AS word FROM stretched GROUP BY doc, of_item, k, stretch, gram) AS firsts
JOIN owned ON firsts.gram = owned.gram AND firsts.k = owned.k
