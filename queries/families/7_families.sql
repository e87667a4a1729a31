-- reads:  located_families(family, doc, sent_start … byte_end, documents, representative, similarity), docs(doc, side, doc_id),
--         ignored_families(family)
-- writes: families(family_id, doc_id, sent_start … byte_end, documents, representative, similarity, ignored): the places of common
--         text, and whether it is to be ignored; of two collections also of which of them the document is
SELECT $family_columns
FROM (
    SELECT
        families.family,
        docs.doc,
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
        ignored_families.family IS NOT NULL AS ignored,
        CASE docs.side WHEN 0 THEN 'input' ELSE 'against' END AS collection
    FROM located_families AS families
    JOIN docs ON families.doc = docs.doc
    LEFT JOIN ignored_families ON families.family = ignored_families.family
)
ORDER BY documents DESC, family, doc, sent_start, byte_start
