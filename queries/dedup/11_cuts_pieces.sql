-- reads:  removed_units(unit), ranks(unit, doc, piece, position), pieces(doc, piece, byte_start)
-- writes: what is cut out of the documents, by their positions: from the first byte of a piece up to the next piece, or to the end
SELECT ranks.position, places.byte_start, places.next
FROM removed_units
JOIN ranks ON removed_units.unit = ranks.unit
JOIN (
    SELECT doc, piece, byte_start, lead(byte_start) OVER (PARTITION BY doc ORDER BY piece) AS next FROM pieces
) AS places
    ON ranks.doc = places.doc AND ranks.piece = places.piece
ORDER BY ranks.position, places.byte_start
