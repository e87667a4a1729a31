-- reads:  removed_units(unit, kept_unit, similarity, containment, containment_back, rule), ranks(unit, doc, position), docs(doc, doc_id)
-- writes: removed(id, kept_id, similarity, containment, containment_back, rule)
SELECT
    gone.doc_id AS id,
    stays.doc_id AS kept_id,
    removed_units.similarity,
    removed_units.containment,
    removed_units.containment_back,
    removed_units.rule
FROM removed_units
JOIN ranks ON removed_units.unit = ranks.unit
JOIN ranks AS kept ON removed_units.kept_unit = kept.unit
JOIN docs AS gone ON ranks.doc = gone.doc
JOIN docs AS stays ON kept.doc = stays.doc
ORDER BY ranks.position
