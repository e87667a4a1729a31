-- reads:  matching(unit, other, share, share_back), named(unit, doc_id, piece)
-- writes: pairs(id, piece, other_id, other_piece, share, share_back, rank, other_rank): ranks say which is kept rather than which
SELECT
    a.doc_id AS id,
    a.piece,
    b.doc_id AS other_id,
    b.piece AS other_piece,
    matching.share,
    matching.share_back,
    matching.unit AS rank,
    matching.other AS other_rank
FROM matching
JOIN named AS a ON matching.unit = a.unit
JOIN named AS b ON matching.other = b.unit
ORDER BY matching.unit, matching.other
