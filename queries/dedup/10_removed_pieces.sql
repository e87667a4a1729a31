-- reads:  removed_units(unit, kept_unit, similarity, containment, containment_back, rule), named(unit, doc_id, doc, piece,
--         position), pieces(doc, piece, char_start, char_end, byte_start, byte_end)
-- writes: removed(id, piece, char_start, char_end, byte_start, byte_end, kept_id, kept_piece, kept_char_start, kept_char_end,
--         similarity, containment, containment_back, rule): the pieces that go, with their places in the documents as they were
SELECT
    gone.doc_id AS id,
    place.piece,
    place.char_start,
    place.char_end,
    place.byte_start,
    place.byte_end,
    stays.doc_id AS kept_id,
    kept_place.piece AS kept_piece,
    kept_place.char_start AS kept_char_start,
    kept_place.char_end AS kept_char_end,
    removed_units.similarity,
    removed_units.containment,
    removed_units.containment_back,
    removed_units.rule
FROM removed_units
JOIN named AS gone ON removed_units.unit = gone.unit
JOIN named AS stays ON removed_units.kept_unit = stays.unit
JOIN pieces AS place ON gone.doc = place.doc AND gone.piece = place.piece
JOIN pieces AS kept_place ON stays.doc = kept_place.doc AND stays.piece = kept_place.piece
ORDER BY gone.position, place.piece
