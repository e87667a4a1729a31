-- reads:  common(prints)
-- writes: print_links(a, b): the common fingerprints, each with itself, and those two that follow one another, with at most $bridge words
--         between them, in at least half of the places of either
CREATE TABLE print_links AS
WITH counted AS (
    SELECT print['fingerprint'] AS fingerprint, count(*) AS places FROM (SELECT unnest(prints) AS print FROM common) GROUP BY 1
),
neighbours AS (
    SELECT a['fingerprint'] AS a, b['fingerprint'] AS b, count(*) AS times
    FROM (
        SELECT unnest(array_slice(prints, 1, -2)) AS a, unnest(array_slice(prints, 2, -1)) AS b
        FROM common
        WHERE cardinality(prints) > 1
    )
    WHERE b['word'] - a['word'] <= $k + $bridge
    GROUP BY 1, 2
)
SELECT fingerprint AS a, fingerprint AS b FROM counted
UNION ALL
SELECT neighbours.a, neighbours.b
FROM neighbours
JOIN counted AS of_a ON neighbours.a = of_a.fingerprint
JOIN counted AS of_b ON neighbours.b = of_b.fingerprint
WHERE 2 * neighbours.times >= greatest(of_a.places, of_b.places)
