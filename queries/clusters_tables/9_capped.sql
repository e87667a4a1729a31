-- reads:  capped(df, units, pairs_not_made, text, example)
-- writes: the texts that make no pairs of documents, those that would make most first
SELECT * FROM capped ORDER BY pairs_not_made DESC, text
