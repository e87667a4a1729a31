-- reads:  met(doc, k, gram, word), owned(k, gram, item, word)
-- writes: diagonals(doc, item, shift): the documents and the items that have a run in common, and by how many words it is shifted
CREATE TABLE diagonals AS
SELECT DISTINCT met.doc, owned.item, met.word - owned.word AS shift
FROM met JOIN owned ON met.gram = owned.gram AND met.k = owned.k
