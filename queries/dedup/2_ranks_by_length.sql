-- reads:  pieces(doc, piece, text), positions(doc, position)
-- writes: ranks(unit, doc, piece, position): the pieces in the order in which they are kept: of several the longest stays, and of
--         equally long ones the first by $tie
CREATE TABLE ranks AS
SELECT
    CAST(row_number() OVER (ORDER BY pieces.characters DESC, $tie) AS BIGINT) - 1 AS unit,
    pieces.doc,
    pieces.piece,
    positions.position
FROM (SELECT doc, piece, character_length(text) AS characters FROM pieces) AS pieces
JOIN positions ON pieces.doc = positions.doc
