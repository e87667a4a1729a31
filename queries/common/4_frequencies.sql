-- reads:  sampled(fingerprint, own, other, places), sequences(side, words), ignored(fingerprint)
-- writes: frequencies(fingerprint, places, common): in how many places fingerprints were sampled, and which are common: they stand in
--         more than $common documents, or make more pairs of documents of two collections, $against, than so many do, or were
--         sampled in many more places, or are of text that is to be ignored. What stands beside a text decides whether it is
--         sampled there, so documents are counted anew for those that may be common
CREATE TABLE frequencies AS
WITH counted AS (
    SELECT print['fingerprint'] AS fingerprint, sum(1 - side) AS own, sum(side) AS other
    FROM (
        SELECT
            side,
            unnest(fingerprints(
                words,
                $k,
                1,
                (
                    SELECT coalesce(array_agg(fingerprint), [])
                    FROM sampled
                    WHERE $common < 2147483647 AND own + other > 2 AND (own + other <= $common OR ($against AND own * other <= $common * $common))
                )
            )) AS print
        FROM sequences
    )
    WHERE NOT print['again']
    GROUP BY print['fingerprint']
)
SELECT
    sampled.fingerprint,
    sampled.places,
    CASE
        WHEN $against
            THEN coalesce(counted.own, sampled.own) * coalesce(counted.other, sampled.other) > $common * $common
        ELSE coalesce(counted.own + counted.other, sampled.own + sampled.other) > $common
    END
    OR sampled.places > 4 * $common
    OR ignored.fingerprint IS NOT NULL AS common
FROM sampled
LEFT JOIN counted ON sampled.fingerprint = counted.fingerprint
LEFT JOIN ignored ON sampled.fingerprint = ignored.fingerprint
