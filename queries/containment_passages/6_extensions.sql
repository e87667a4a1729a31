-- reads:  common(doc_a, doc_b, text_a, frequent), places(doc, place, text), alike(text_a, text_b), seeds(doc_a, place_a, doc_b,
--         place_b)
-- writes: extensions(doc_a, place_a, doc_b, place_b): the pairs of places of frequent sentences that may carry a passage on. Between
--         such a pair and the seed that it is reached from there are but frequent sentences, so the seed is the nearest
--         sentence that is not; that leaves at most 2 * $max_frequency pairs for a place
CREATE TABLE extensions AS
WITH frequent AS (
    SELECT doc_a, doc_b, text_a FROM common WHERE frequent
),
marked AS (
    SELECT pairs.doc_a, pairs.doc_b, places.place, places.text, frequent.text_a IS NOT NULL AS frequent
    FROM (SELECT DISTINCT doc_a, doc_b FROM frequent) AS pairs
    JOIN places ON pairs.doc_a = places.doc
    LEFT JOIN frequent
        ON pairs.doc_a = frequent.doc_a AND pairs.doc_b = frequent.doc_b AND places.text = frequent.text_a
),
anchored AS (
    SELECT
        *,
        max(CASE WHEN NOT frequent THEN place END) OVER (PARTITION BY doc_a, doc_b ORDER BY place) AS before,
        min(CASE WHEN NOT frequent THEN place END) OVER (PARTITION BY doc_a, doc_b ORDER BY place DESC) AS after
    FROM marked
),
reached AS (
    SELECT doc_a, doc_b, place, text, before AS seed FROM anchored WHERE frequent
    UNION ALL
    SELECT doc_a, doc_b, place, text, after AS seed FROM anchored WHERE frequent
)
SELECT reached.doc_a, reached.place AS place_a, reached.doc_b, b.place AS place_b
FROM reached
JOIN seeds ON reached.doc_a = seeds.doc_a AND reached.doc_b = seeds.doc_b AND reached.seed = seeds.place_a
JOIN places AS b ON reached.doc_b = b.doc AND seeds.place_b + reached.place - reached.seed = b.place
JOIN alike ON reached.text = alike.text_a AND b.text = alike.text_b
