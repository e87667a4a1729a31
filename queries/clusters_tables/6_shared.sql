-- reads:  matches(text_a, text_b, frequent), occurrences(text_id, doc)
-- writes: shared(a, b, pairs, texts_a, texts_b): the documents that share texts, the first one first: how many pairs of texts, of
--         how many places in each
CREATE TABLE shared AS
WITH held AS (
    SELECT text_id, doc, count(*) AS places FROM occurrences GROUP BY text_id, doc
),
matched AS (
    -- The number of places of the texts that match a text, so that pairs of places are counted and not made.
    SELECT matches.text_a AS text_id, held.doc, sum(held.places) AS places
    FROM matches JOIN held ON matches.text_b = held.text_id
    WHERE NOT matches.frequent
    GROUP BY matches.text_a, held.doc
)
SELECT
    least(held.doc, matched.doc) AS a,
    greatest(held.doc, matched.doc) AS b,
    sum(CASE WHEN held.doc < matched.doc THEN held.places * matched.places ELSE 0 END) AS pairs,
    sum(CASE WHEN held.doc < matched.doc THEN held.places ELSE 0 END) AS texts_a,
    sum(CASE WHEN held.doc > matched.doc THEN held.places ELSE 0 END) AS texts_b
FROM held JOIN matched ON held.text_id = matched.text_id
WHERE held.doc <> matched.doc
GROUP BY least(held.doc, matched.doc), greatest(held.doc, matched.doc)
