-- reads:  certificate(similarity_from, pairs, found, recall, expected)
-- writes: the certificate, least similar pairs first
SELECT * FROM certificate ORDER BY similarity_from
