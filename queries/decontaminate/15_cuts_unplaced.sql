-- reads:  placed(position, byte_start)
-- writes: the documents that go since it cannot be said where they have what they have, by their positions
SELECT DISTINCT position FROM placed WHERE byte_start IS NULL ORDER BY position
