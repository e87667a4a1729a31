-- reads:  fingerprints(doc, side, fingerprint, again)
-- writes: sampled(fingerprint, own, other, places): in how many documents of each side, and in how many places, fingerprints were
--         sampled, those in more than one document, or in more than one place where $within_documents
CREATE TABLE sampled AS
SELECT *
FROM (
    SELECT
        fingerprint,
        count(*) FILTER (WHERE NOT again AND side = 0) AS own,
        count(*) FILTER (WHERE NOT again AND side = 1) AS other,
        count(*) AS places
    FROM fingerprints
    GROUP BY fingerprint
)
WHERE CASE WHEN $against THEN own > 0 AND other > 0 ELSE own + other > 1 OR ($within_documents AND places > 1) END
