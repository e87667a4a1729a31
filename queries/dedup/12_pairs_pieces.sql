-- reads:  stand_ins(member, other, share, share_back), occurrences(text_id, unit), ranks(unit, doc, piece), docs(doc, doc_id)
-- writes: pairs(id, piece, other_id, other_piece, share, share_back, rank, other_rank): each two that can stand for one another; of equal
--         texts each with the first of them; ranks say which is kept rather than which
SELECT
    a.doc_id AS id,
    a_ranks.piece,
    b.doc_id AS other_id,
    b_ranks.piece AS other_piece,
    found.share,
    found.share_back,
    found.member AS rank,
    found.other AS other_rank
FROM (
    SELECT member, other, share, share_back FROM stand_ins
    UNION ALL
    SELECT unit AS member, text_id AS other, CAST(1 AS DOUBLE) AS share, CAST(1 AS DOUBLE) AS share_back
    FROM occurrences
    WHERE unit > text_id
) AS found
JOIN ranks AS a_ranks ON found.member = a_ranks.unit
JOIN ranks AS b_ranks ON found.other = b_ranks.unit
JOIN docs AS a ON a_ranks.doc = a.doc
JOIN docs AS b ON b_ranks.doc = b.doc
ORDER BY found.member, found.other
