-- reads:  clustered(unit, kept_unit, similarity), named(unit, doc_id)
-- writes: clusters(kept_id, id, is_kept, similarity): each document that stays for others, with these
SELECT stays.doc_id AS kept_id, member.doc_id AS id, clustered.unit = clustered.kept_unit AS is_kept, clustered.similarity
FROM clustered
JOIN named AS member ON clustered.unit = member.unit
JOIN named AS stays ON clustered.kept_unit = stays.unit
ORDER BY clustered.kept_unit, clustered.unit
