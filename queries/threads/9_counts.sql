-- reads:  pairs(doc_a, doc_b)
-- writes: one row: how many threads have a near-duplicate
SELECT count(*) AS threads FROM (SELECT doc_a AS doc FROM pairs UNION SELECT doc_b AS doc FROM pairs)
