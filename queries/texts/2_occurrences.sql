-- reads:  signatures(unit, side, doc, set), texts(text_id, set)
-- writes: occurrences(text_id, unit, side, doc): where each text stands
CREATE TABLE occurrences AS
SELECT texts.text_id, signatures.unit, signatures.side, signatures.doc
-- Digests are joined in a fraction of the memory of sets; no two sets with the same BLAKE3 digest are known.
FROM (SELECT text_id, digest(pack_set(set), 'blake3') AS digest FROM texts) AS texts
JOIN (SELECT *, digest(pack_set(set), 'blake3') AS digest FROM signatures) AS signatures ON texts.digest = signatures.digest
