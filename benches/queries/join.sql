-- reads:  sets.parquet(id, set)
-- writes: the number of pairs with a Jaccard similarity of $threshold or more: the join and nothing else
SELECT count(*) AS pairs
FROM 'sets.parquet' AS a
JOIN 'sets.parquet' AS b ON jaccard(a.set, b.set) >= $threshold AND a.id < b.id
