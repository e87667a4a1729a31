-- reads:  sequences(doc, side, words)
-- writes: quotations(doc, parts): the parts of documents that may be quotations of a text of several sentences: those that share at
--         least four runs of three words with it in the same order and distance, and those that share as many near each other, at
--         least 8 words, and are as similar as $threshold to what they share them with, by the cosine of their words
CREATE TABLE quotations AS
WITH prints AS (
    SELECT doc, print['fingerprint'] AS fingerprint, print['word'] AS word
    FROM (SELECT doc, unnest(fingerprints(words, 3, 1)) AS print FROM sequences WHERE side = 1)
),
met AS (
    SELECT doc, print['fingerprint'] AS fingerprint, print['word'] AS word
    FROM (
        SELECT
            doc,
            unnest(fingerprints(
                words, 3, 1, (SELECT array_agg(DISTINCT fingerprint ORDER BY fingerprint) FROM prints)
            )) AS print
        FROM sequences
        WHERE side = 0
    )
),
matches AS (
    SELECT prints.doc AS query, prints.word AS word_a, met.doc, met.word AS word_b
    FROM prints JOIN met ON prints.fingerprint = met.fingerprint
),
seeds AS (
    SELECT query, doc, array_agg(named_struct('word_a', word_a, 'word_b', word_b, 'weight', 1)) AS seeds
    FROM matches
    GROUP BY query, doc
    HAVING count(*) >= 4
),
aligned AS (
    SELECT seeds.doc, unnest(aligned_words(a.words, b.words, seeds.seeds, 4, 8, $threshold)) AS part
    FROM seeds JOIN sequences AS a ON seeds.query = a.doc JOIN sequences AS b ON seeds.doc = b.doc
),
parts AS (
    SELECT doc, part['word_b_start'] AS word_start, part['word_b_end'] AS word_end FROM aligned
    UNION
    SELECT doc, min(word_b) AS word_start, max(word_b) + 3 AS word_end
    FROM matches
    GROUP BY query, doc, word_b - word_a
    HAVING count(*) >= 4
)
SELECT doc, array_agg(named_struct('word_start', CAST(word_start AS INT), 'word_end', CAST(word_end AS INT))) AS parts
FROM parts
GROUP BY doc
