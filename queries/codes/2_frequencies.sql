-- reads:  tokens(tokens)
-- writes: every word, and how often it occurs
SELECT word, count(*) AS frequency FROM (SELECT unnest(tokens) AS word FROM tokens) GROUP BY word
