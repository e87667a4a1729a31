-- reads:  matching(unit, other, share, share_back), ranks(unit, doc), docs(doc, doc_id)
-- writes: pairs(id, other_id, share, share_back, rank, other_rank): ranks say which is kept rather than which
SELECT
    a.doc_id AS id,
    b.doc_id AS other_id,
    matching.share,
    matching.share_back,
    matching.unit AS rank,
    matching.other AS other_rank
FROM matching
JOIN ranks AS a_ranks ON matching.unit = a_ranks.unit
JOIN ranks AS b_ranks ON matching.other = b_ranks.unit
JOIN docs AS a ON a_ranks.doc = a.doc
JOIN docs AS b ON b_ranks.doc = b.doc
ORDER BY matching.unit, matching.other
