-- reads:  input.parquet(id, text)
-- writes: pairs(id_a, id_b): texts whose sets of runs of $n words have a Jaccard similarity of $threshold or more
WITH sets AS (SELECT id, shingles(words(text), $n) AS set FROM 'input.parquet')
SELECT a.id AS id_a, b.id AS id_b
FROM sets AS a
JOIN sets AS b ON jaccard(a.set, b.set) >= $threshold AND a.id < b.id
