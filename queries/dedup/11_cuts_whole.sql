-- reads:  stretches(position, is_whole)
-- writes: the documents that go with all of their words, by their positions
SELECT DISTINCT position FROM stretches WHERE is_whole ORDER BY position
