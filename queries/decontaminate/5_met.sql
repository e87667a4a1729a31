-- reads:  searched(doc, words), grams(k, gram)
-- writes: met(doc, k, gram, word, again): where documents have runs of items, and which of them stood in their document before
CREATE TABLE met AS
SELECT doc, k, print['fingerprint'] AS gram, print['word'] AS word, print['again'] AS again
FROM (
    SELECT doc, k, unnest(fingerprints(words, k, 1, (SELECT array_agg(DISTINCT gram ORDER BY gram) FROM grams))) AS print
    FROM (SELECT doc, words, unnest((SELECT array_agg(DISTINCT k) FROM grams)) AS k FROM searched)
)
