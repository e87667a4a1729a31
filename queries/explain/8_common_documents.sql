-- reads:  fingerprints(doc, fingerprint), frequencies(fingerprint, common), docs(doc, doc_id)
-- writes: the documents of which most is common: how many of their fingerprints in a hundred
SELECT docs.doc_id, counted.fingerprints, 100 * counted.common / counted.fingerprints AS percent_common
FROM (
    SELECT fingerprints.doc, count(*) AS fingerprints, count(*) FILTER (WHERE frequencies.common) AS common
    FROM fingerprints LEFT JOIN frequencies ON fingerprints.fingerprint = frequencies.fingerprint
    GROUP BY fingerprints.doc
) AS counted
JOIN docs ON counted.doc = docs.doc
WHERE counted.common > 0
ORDER BY counted.common DESC, docs.doc_id
LIMIT 10
