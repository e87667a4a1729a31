-- reads:  fingerprints(doc, side, fingerprint, word), frequencies(fingerprint, common), twins(doc, twin)
-- writes: seeds(doc_a, doc_b, seeds): for each pair of documents the places of the fingerprints that both have, without common
--         ones; of two collections none of a document and its twin
CREATE TABLE seeds AS
WITH rare AS (
    SELECT fingerprints.*
    FROM fingerprints
    LEFT SEMI JOIN (SELECT * FROM frequencies WHERE NOT common) AS rare ON fingerprints.fingerprint = rare.fingerprint
)
SELECT
    a.doc AS doc_a,
    b.doc AS doc_b,
    array_agg(named_struct('word_a', a.word, 'word_b', b.word, 'weight', 1)) AS seeds
FROM rare AS a
JOIN (SELECT rare.*, twins.twin FROM twins RIGHT JOIN rare ON twins.doc = rare.doc) AS b ON a.fingerprint = b.fingerprint
WHERE
    CASE
        WHEN $against THEN a.side < b.side AND a.doc IS DISTINCT FROM b.twin
        ELSE a.doc < b.doc OR ($within_documents AND a.doc = b.doc AND a.word < b.word)
    END
    AND (NOT $add OR a.side + b.side > 0)
GROUP BY a.doc, b.doc
