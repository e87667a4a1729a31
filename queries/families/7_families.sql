-- reads:  located_families(family, doc, sent_start … byte_end, documents, representative, similarity), docs(doc, doc_id),
--         ignored_families(family)
-- writes: families(family_id, doc_id, sent_start … byte_end, documents, representative, similarity, ignored): the places of common
--         text, and whether it is to be ignored
SELECT
    lpad(to_hex(families.family), 16, '0') AS family_id,
    docs.doc_id,
    families.sent_start,
    families.sent_end,
    families.char_start,
    families.char_end,
    families.byte_start,
    families.byte_end,
    families.documents,
    families.representative,
    families.similarity,
    ignored_families.family IS NOT NULL AS ignored
FROM located_families AS families
JOIN docs ON families.doc = docs.doc
LEFT JOIN ignored_families ON families.family = ignored_families.family
ORDER BY families.documents DESC, families.family, families.doc, families.sent_start, families.byte_start
