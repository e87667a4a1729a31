-- reads:  compared_texts(doc, side, text)
-- writes: items(item, words, length, k): the items with their words, how many these are, and how many of them in a run a document must
--         have: $words of them, or all where there are fewer
CREATE TABLE items AS
SELECT item, words, length, least(length, $words) AS k
FROM (
    SELECT doc AS item, words, CAST(cardinality(fingerprints(words, 1, 1)) AS INT) AS length
    FROM (SELECT doc, word_sequence(text) AS words FROM compared_texts WHERE side = 1)
)
