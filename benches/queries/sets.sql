-- reads:  input.parquet(id, text)
-- writes: sets(id, set): the runs of $n words
SELECT id, shingles(words(text), $n) AS set FROM 'input.parquet'
