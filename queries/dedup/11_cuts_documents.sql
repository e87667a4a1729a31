-- reads:  removed_units(unit), ranks(unit, position)
-- writes: the documents that go, by their positions
SELECT ranks.position FROM removed_units JOIN ranks ON removed_units.unit = ranks.unit ORDER BY ranks.position
