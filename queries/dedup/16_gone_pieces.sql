-- reads:  removed_units(unit), ranks(unit, doc, piece), pieces(doc, piece, text)
-- writes: gone(doc, characters): how many characters go of each document of which any do
CREATE VIEW gone AS
SELECT ranks.doc, sum(character_length(pieces.text)) AS characters
FROM removed_units
JOIN ranks ON removed_units.unit = ranks.unit
JOIN pieces ON ranks.doc = pieces.doc AND ranks.piece = pieces.piece
GROUP BY ranks.doc
