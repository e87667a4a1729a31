-- reads:  ignored_sequences(words)
-- writes: ignored(fingerprint): all runs of $k words of these documents, sampled or not, since what stands beside a text decides which
--         of its fingerprints are sampled
CREATE TABLE ignored AS
SELECT DISTINCT print['fingerprint'] AS fingerprint
FROM (SELECT unnest(fingerprints(words, $k, 1)) AS print FROM ignored_sequences)
