-- reads:  placed(position)
-- writes: the documents that go, by their positions
SELECT DISTINCT position FROM placed ORDER BY position
