-- reads:  ranks(unit, doc, piece), pieces(doc, piece, text), keepers(text_id, keeper)
-- writes: units(unit, side, doc, text): the texts that go and those that stay for them, which are measured anew
CREATE OR REPLACE VIEW units AS
SELECT ranks.unit, 0 AS side, ranks.doc, pieces.text
FROM ranks
JOIN pieces ON ranks.doc = pieces.doc AND ranks.piece = pieces.piece
LEFT SEMI JOIN (SELECT text_id AS unit FROM keepers UNION SELECT keeper FROM keepers) AS measured ON ranks.unit = measured.unit
