-- reads:  ranks(unit, doc, piece), pieces(doc, piece, text)
-- writes: units(unit, side, doc, text): the texts to compare, numbered in the order in which they are kept
CREATE VIEW units AS
SELECT ranks.unit, 0 AS side, ranks.doc, pieces.text
FROM ranks JOIN pieces ON ranks.doc = pieces.doc AND ranks.piece = pieces.piece
