-- reads:  frequencies(places, common)
-- writes: one row: how many pairs of places the fingerprints that are not common make, at most
SELECT CAST(coalesce(sum(places * (places - 1) / 2), 0) AS BIGINT) AS pairs FROM frequencies WHERE NOT common
