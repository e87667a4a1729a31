-- reads:  fingerprints(doc, side, fingerprint)
-- writes: sampled(fingerprint, own, other, places): in how many documents of each side, and in how many places, fingerprints were
--         sampled, those in more than one document, or in more than one place where $within_documents
CREATE TABLE sampled AS
SELECT fingerprint, sum(1 - side) AS own, sum(side) AS other, sum(times) AS places
FROM (SELECT fingerprint, doc, side, count(*) AS times FROM fingerprints GROUP BY fingerprint, doc, side)
GROUP BY fingerprint
HAVING CASE
    WHEN $against THEN sum(1 - side) > 0 AND sum(side) > 0
    ELSE count(*) > 1 OR ($within_documents AND sum(times) > 1)
END
