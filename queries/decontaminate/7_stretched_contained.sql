-- reads:  scores(doc, item), grams(item, k, gram, again), met(doc, k, gram, word)
-- writes: stretched(doc, of_item, k, stretch, gram, word): the runs that each document shares with an item that it contains, by the
--         stretches in which one begins at each word
CREATE TABLE stretched AS
SELECT
    scores.doc,
    scores.item AS of_item,
    met.k,
    CAST(met.word AS BIGINT)
        - CAST(row_number() OVER (PARTITION BY scores.doc, scores.item, met.k ORDER BY met.word) AS BIGINT) AS stretch,
    met.gram,
    met.word
FROM scores
JOIN (SELECT item, k, gram FROM grams WHERE NOT again) AS sought ON scores.item = sought.item
JOIN met ON scores.doc = met.doc AND sought.gram = met.gram AND sought.k = met.k
