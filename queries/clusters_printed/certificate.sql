-- reads:  certificate(similarity_from, pairs, found, recall, expected)
-- writes: the certificate, most similar pairs first
SELECT similarity_from, pairs, found, round(recall, 4) AS recall, round(expected, 4) AS expected
FROM certificate
ORDER BY similarity_from DESC
