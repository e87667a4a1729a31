-- reads:  texts(text_id, set)
-- writes: banded(text_id, set, bands): the $bands signatures of each text, each of $rows minhashes
CREATE TABLE banded AS
SELECT text_id, set, bands(minhash(set, $minhashes, $seed), $bands, $rows) AS bands FROM texts
