-- reads:  matches(…)
-- writes: the $most best of them: those that share most text
SELECT * FROM matches ORDER BY characters * coalesce(similarity, 1) DESC, doc_a, doc_b, char_a_start, char_b_start LIMIT $most
