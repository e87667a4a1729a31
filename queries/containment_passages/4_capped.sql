-- reads:  scores(doc_a, doc_b), sequences(doc, words), doc_texts(doc, text), docs(doc, doc_id)
-- writes: capped(text, document_pairs, pairs_not_made, example): the words that founded no passage of some documents, since these
--         share them in more than $max_frequency pairs of places
CREATE TABLE capped AS
WITH counted AS (
    SELECT doc, print['fingerprint'] AS fingerprint, min(print['word']) AS word, count(*) AS places
    FROM (SELECT doc, unnest(fingerprints(words, $k, $window)) AS print FROM sequences)
    GROUP BY doc, print['fingerprint']
),
-- Only these fingerprints can be frequent in a pair of documents.
repeated AS (
    SELECT counted.*
    FROM counted
    LEFT SEMI JOIN (
        SELECT fingerprint FROM counted GROUP BY fingerprint HAVING max(places) * max(places) > $max_frequency
    ) AS often
        ON counted.fingerprint = often.fingerprint
),
frequent AS (
    SELECT
        a.fingerprint,
        count(*) AS document_pairs,
        sum(a.places * b.places) AS pairs,
        min(named_struct('doc', a.doc, 'word', a.word)) AS first
    FROM scores
    JOIN repeated AS a ON scores.doc_a = a.doc
    JOIN repeated AS b ON scores.doc_b = b.doc AND a.fingerprint = b.fingerprint
    WHERE a.places * b.places > $max_frequency
    GROUP BY a.fingerprint
)
SELECT
    array_to_string(
        array_slice(words(normalize(doc_texts.text)), frequent.first['word'] + 1, frequent.first['word'] + $k), ' '
    ) AS text,
    frequent.document_pairs,
    frequent.pairs AS pairs_not_made,
    docs.doc_id AS example
FROM frequent
JOIN doc_texts ON frequent.first['doc'] = doc_texts.doc
JOIN docs ON frequent.first['doc'] = docs.doc
