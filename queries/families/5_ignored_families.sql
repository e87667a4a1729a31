-- reads:  clusters(members), ignored(fingerprint)
-- writes: ignored_families(family): the families of which at least half of the fingerprints are of text to be ignored
CREATE TABLE ignored_families AS
SELECT member['cluster_id'] AS family
FROM (SELECT unnest(members) AS member FROM clusters) LEFT JOIN ignored ON member['member'] = ignored.fingerprint
GROUP BY member['cluster_id']
HAVING 2 * count(ignored.fingerprint) >= count(*)
