-- reads:  matching(unit, other, share, share_back), named(unit, doc_id)
-- writes: pairs(id, other_id, share, share_back, rank, other_rank): ranks say which is kept rather than which
SELECT
    a.doc_id AS id,
    b.doc_id AS other_id,
    matching.share,
    matching.share_back,
    matching.unit AS rank,
    matching.other AS other_rank
FROM matching
JOIN named AS a ON matching.unit = a.unit
JOIN named AS b ON matching.other = b.unit
ORDER BY matching.unit, matching.other
