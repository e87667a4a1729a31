-- reads:  removed_units(unit, kept_unit, similarity)
-- writes: clustered(unit, kept_unit, similarity): the pieces that go, and those that stay for them, each with the one that stays
CREATE VIEW clustered AS
SELECT unit, kept_unit, similarity FROM removed_units
UNION ALL
SELECT DISTINCT kept_unit AS unit, kept_unit, CAST(1 AS DOUBLE) AS similarity FROM removed_units
