-- reads:  sequences(doc, side, words), frequencies(fingerprint, common)
-- writes: common(doc, side, prints): the places of all common fingerprints in each document that has one, not the sampled ones
--         alone, since what stands beside a text decides which of its fingerprints are
CREATE TABLE common AS
SELECT doc, side, prints
FROM (
    SELECT
        doc,
        side,
        fingerprints(
            words, $k, 1, (SELECT coalesce(array_agg(fingerprint), []) FROM frequencies WHERE common)
        ) AS prints
    FROM sequences
)
WHERE cardinality(prints) > 0
