-- reads:  items(item, words, length, k)
-- writes: grams(item, k, gram, word, again): the runs of k words of the items of at least $min_words words, where they stand, and which of
--         them stood in their item before
CREATE TABLE grams AS
SELECT item, k, print['fingerprint'] AS gram, print['word'] AS word, print['again'] AS again
FROM (SELECT item, k, unnest(fingerprints(words, k, 1)) AS print FROM items WHERE length >= $min_words)
