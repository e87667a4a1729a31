-- reads:  pieces(doc, piece), positions(doc, position), documents(doc_id, …), docs(doc, doc_id)
-- writes: ranks(unit, doc, piece, position): the pieces in the order in which they are kept: of several the first stays, by $key, and
--         among equals by $tie
CREATE TABLE ranks AS
SELECT
    CAST(row_number() OVER (ORDER BY preferred.key NULLS LAST, $tie) AS BIGINT) - 1 AS unit,
    pieces.doc,
    pieces.piece,
    positions.position
FROM pieces
JOIN positions ON pieces.doc = positions.doc
JOIN (
    SELECT docs.doc, keys.key
    FROM (SELECT doc_id, $key AS key FROM documents) AS keys JOIN docs ON keys.doc_id = docs.doc_id
) AS preferred
    ON pieces.doc = preferred.doc
