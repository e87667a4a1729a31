-- reads:  located_families(family, doc, sent_start … byte_end, documents, representative, similarity), docs(doc, doc_id)
-- writes: families(family_id, doc_id, sent_start … byte_end, documents, representative, similarity): the places of common text
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
    families.similarity
FROM located_families AS families JOIN docs ON families.doc = docs.doc
ORDER BY families.documents DESC, families.family, families.doc, families.sent_start, families.byte_start
