-- reads:  capped(text, df, units, pairs_not_made, example)
-- writes: the same, those first that would make the most pairs
SELECT * FROM capped ORDER BY pairs_not_made DESC, text
