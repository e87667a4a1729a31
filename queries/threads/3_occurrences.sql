-- reads:  sets(field, doc, side, set), texts(text_id, field, set)
-- writes: occurrences(text_id, doc, side): the threads that have each text
CREATE TABLE occurrences AS
SELECT texts.text_id, sets.doc, sets.side
-- Digests are joined in a fraction of the memory of sets; no two sets with the same BLAKE3 digest are known.
FROM (SELECT text_id, field, digest(pack_set(set), 'blake3') AS digest FROM texts) AS texts
JOIN (SELECT *, digest(pack_set(set), 'blake3') AS digest FROM sets) AS sets
    ON texts.field = sets.field AND texts.digest = sets.digest
