-- reads:  text_links
-- writes: pairs(doc_a, sent_a, places_a, doc_b, sent_b, places_b, similarity, edit_similarity, kind, text_a, text_b)
SELECT
    doc_a, sent_a, places_a, doc_b, sent_b, places_b, similarity, edit_similarity, kind, text_a, text_b
FROM text_links
ORDER BY unit_a, unit_b
