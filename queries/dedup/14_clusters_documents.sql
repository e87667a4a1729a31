-- reads:  removed_units(unit, kept_unit, similarity), ranks(unit, doc), docs(doc, doc_id)
-- writes: clusters(kept_id, id, is_kept, similarity): each document that stays for others, with these
SELECT stays.doc_id AS kept_id, member.doc_id AS id, clusters.unit = clusters.kept_unit AS is_kept, clusters.similarity
FROM (
    SELECT unit, kept_unit, similarity FROM removed_units
    UNION ALL
    SELECT DISTINCT kept_unit AS unit, kept_unit, CAST(1 AS DOUBLE) AS similarity FROM removed_units
) AS clusters
JOIN ranks AS a ON clusters.unit = a.unit
JOIN ranks AS b ON clusters.kept_unit = b.unit
JOIN docs AS member ON a.doc = member.doc
JOIN docs AS stays ON b.doc = stays.doc
ORDER BY clusters.kept_unit, clusters.unit
