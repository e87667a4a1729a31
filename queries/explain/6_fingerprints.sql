-- reads:  fingerprints(doc, side, fingerprint, word)
-- writes: fingerprints: one in $every of them, wherever these stand
CREATE OR REPLACE TABLE fingerprints AS
SELECT * FROM fingerprints WHERE fingerprint % $every = 0
