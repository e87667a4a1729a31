-- reads:  removed_units(unit, kept_unit, similarity, rule), ranks(unit, doc, piece, position), docs(doc, doc_id),
--         pieces(doc, piece, char_start, char_end, byte_start, byte_end)
-- writes: annotated(position, cuts): of each document of which pieces go what goes, where, for which document that stays, and why
SELECT
    ranks.position,
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
JOIN ranks ON removed_units.unit = ranks.unit
JOIN ranks AS kept ON removed_units.kept_unit = kept.unit
JOIN docs AS stays ON kept.doc = stays.doc
JOIN pieces AS place ON ranks.doc = place.doc AND ranks.piece = place.piece
GROUP BY ranks.position
