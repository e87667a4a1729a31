-- reads:  seeds(doc_a, sent_a, doc_b, sent_b), matches(text_a, text_b, similarity, frequent),
--         occurrences(text_id, unit, doc), weights(text_a, text_b, weight)
-- writes: extensions(doc_a, sent_a, doc_b, sent_b, similarity, weight): the matching sentences too frequent to found a passage,
--         in the document pairs that have a seed, at most $max_gap off the diagonal of one
CREATE TABLE extensions AS
WITH frequent AS (
    SELECT DISTINCT o.text_id, o.doc, CAST(o.unit % 4294967296 AS INT) AS sent
    FROM occurrences AS o JOIN matches ON o.text_id = matches.text_a
    WHERE matches.frequent
),
diagonals AS (
    SELECT DISTINCT doc_a, doc_b, sent_b - sent_a AS diagonal FROM seeds
),
near AS (
    SELECT DISTINCT doc_a, doc_b, diagonal + CAST(off AS INT) AS diagonal
    FROM (SELECT *, unnest(range(-$max_gap, $max_gap + 1)) AS off FROM diagonals)
)
SELECT near.doc_a, a.sent AS sent_a, near.doc_b, b.sent AS sent_b, matches.similarity, weights.weight
FROM near
JOIN frequent AS a ON near.doc_a = a.doc
JOIN frequent AS b ON near.doc_b = b.doc AND a.sent + near.diagonal = b.sent
JOIN matches ON a.text_id = matches.text_a AND b.text_id = matches.text_b AND matches.frequent
JOIN weights ON a.text_id = weights.text_a AND b.text_id = weights.text_b
WHERE near.doc_a <> near.doc_b OR a.sent < b.sent
