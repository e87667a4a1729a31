-- reads:  clustered(unit, kept_unit, similarity), named(unit, doc_id, piece)
-- writes: clusters(kept_id, kept_piece, id, piece, is_kept, similarity): each piece that stays for others, with these
SELECT
    stays.doc_id AS kept_id,
    stays.piece AS kept_piece,
    member.doc_id AS id,
    member.piece,
    clustered.unit = clustered.kept_unit AS is_kept,
    clustered.similarity
FROM clustered
JOIN named AS member ON clustered.unit = member.unit
JOIN named AS stays ON clustered.kept_unit = stays.unit
ORDER BY clustered.kept_unit, clustered.unit
