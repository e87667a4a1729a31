-- reads:  sequences(doc, side, words)
-- writes: fingerprints(doc, side, fingerprint, word): where the sampled runs of $k words stand
CREATE TABLE fingerprints AS
SELECT doc, side, print['fingerprint'] AS fingerprint, print['word'] AS word
FROM (SELECT doc, side, unnest(fingerprints(words, $k, $window)) AS print FROM sequences)
