-- reads:  removed_units(unit, kept_unit, similarity, rule), named(unit, doc_id, position)
-- writes: annotated(position, kept_id, similarity, rule): of each document that goes the one that stays, and why
SELECT gone.position, stays.doc_id AS kept_id, removed_units.similarity, removed_units.rule
FROM removed_units
JOIN named AS gone ON removed_units.unit = gone.unit
JOIN named AS stays ON removed_units.kept_unit = stays.unit
