-- reads:  removed_units(unit), ranks(unit, doc, piece), pieces(doc, piece, text)
-- writes: one row: how many pieces there are, how many characters they have, how many of these go, and how many documents go with all of
--         their pieces
SELECT
    CAST(coalesce(sum(pieces), 0) AS BIGINT) AS pieces,
    CAST(coalesce(sum(characters), 0) AS BIGINT) AS characters,
    CAST(coalesce(sum(characters_removed), 0) AS BIGINT) AS characters_removed,
    CAST(coalesce(sum(CASE WHEN pieces = removed THEN 1 END), 0) AS BIGINT) AS documents_removed
FROM (
    SELECT
        pieces.doc,
        count(*) AS pieces,
        count(gone.unit) AS removed,
        sum(character_length(pieces.text)) AS characters,
        sum(CASE WHEN gone.unit IS NOT NULL THEN character_length(pieces.text) END) AS characters_removed
    FROM pieces
    JOIN ranks ON pieces.doc = ranks.doc AND pieces.piece = ranks.piece
    LEFT JOIN removed_units AS gone ON ranks.unit = gone.unit
    GROUP BY pieces.doc
)
