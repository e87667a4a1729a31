-- reads:  clustered(unit, kept_unit, similarity), ranks(unit, doc, piece), docs(doc, doc_id)
-- writes: clusters(kept_id, kept_piece, id, piece, is_kept, similarity): each piece that stays for others, with these
SELECT
    stays.doc_id AS kept_id,
    b.piece AS kept_piece,
    member.doc_id AS id,
    a.piece,
    clustered.unit = clustered.kept_unit AS is_kept,
    clustered.similarity
FROM clustered
JOIN ranks AS a ON clustered.unit = a.unit
JOIN ranks AS b ON clustered.kept_unit = b.unit
JOIN docs AS member ON a.doc = member.doc
JOIN docs AS stays ON b.doc = stays.doc
ORDER BY clustered.kept_unit, clustered.unit
