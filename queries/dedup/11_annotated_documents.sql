-- reads:  removed_units(unit, kept_unit, similarity, rule), ranks(unit, doc, position), docs(doc, doc_id)
-- writes: annotated(position, kept_id, similarity, rule): of each document that goes the one that stays, and why
SELECT ranks.position, stays.doc_id AS kept_id, removed_units.similarity, removed_units.rule
FROM removed_units
JOIN ranks ON removed_units.unit = ranks.unit
JOIN ranks AS kept ON removed_units.kept_unit = kept.unit
JOIN docs AS stays ON kept.doc = stays.doc
