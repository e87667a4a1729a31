-- reads:  removed_units(unit, kept_unit, similarity, rule), named(unit, doc_id, doc, piece, position),
--         pieces(doc, piece, char_start, char_end, byte_start, byte_end)
-- writes: annotated(position, cuts): of each document of which pieces go what goes, where, for which document that stays, and why
SELECT
    gone.position,
    array_agg(
        named_struct(
            'char_start', place.char_start,
            'char_end', place.char_end,
            'byte_start', place.byte_start,
            'byte_end', place.byte_end,
            'kept_id', stays.doc_id,
            'similarity', removed_units.similarity,
            'rule', removed_units.rule
        )
        ORDER BY place.piece
    ) AS cuts
FROM removed_units
JOIN named AS gone ON removed_units.unit = gone.unit
JOIN named AS stays ON removed_units.kept_unit = stays.unit
JOIN pieces AS place ON gone.doc = place.doc AND gone.piece = place.piece
GROUP BY gone.position
