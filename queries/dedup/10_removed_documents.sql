-- reads:  removed_units(unit, kept_unit, similarity, containment, containment_back, rule), named(unit, doc_id, position)
-- writes: removed(id, kept_id, similarity, containment, containment_back, rule)
SELECT
    gone.doc_id AS id,
    stays.doc_id AS kept_id,
    removed_units.similarity,
    removed_units.containment,
    removed_units.containment_back,
    removed_units.rule
FROM removed_units
JOIN named AS gone ON removed_units.unit = gone.unit
JOIN named AS stays ON removed_units.kept_unit = stays.unit
ORDER BY gone.position
