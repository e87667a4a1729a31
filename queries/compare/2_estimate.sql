-- reads:  postings(element)
-- writes: one row: how many pairs of postings there are
SELECT CAST(coalesce(sum(documents * (documents - 1) / 2), 0) AS BIGINT) AS pairs
FROM (SELECT count(*) AS documents FROM postings GROUP BY element)
