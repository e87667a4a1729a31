-- reads:  sequences(doc, side, words)
-- writes: fingerprints(doc, side, fingerprint, word, again): where the sampled runs of $k words stand, and which stood in their document
--         before
CREATE TABLE fingerprints AS
SELECT doc, side, print['fingerprint'] AS fingerprint, print['word'] AS word, print['again'] AS again
FROM (SELECT doc, side, unnest(fingerprints(words, $k, $window)) AS print FROM sequences)
