-- reads:  family_places(family, doc, documents, representative, similarity, word_start, word_end), places(doc, word_start,
--         word_end, sent_start … byte_end)
-- writes: located_families(family, doc, sent_start … byte_end, documents, representative, similarity)
CREATE TABLE located_families AS
SELECT
    family_places.family,
    family_places.doc,
    places.sent_start,
    places.sent_end,
    places.char_start,
    places.char_end,
    places.byte_start,
    places.byte_end,
    family_places.documents,
    family_places.representative,
    family_places.similarity
FROM family_places
JOIN places
    ON family_places.doc = places.doc
    AND family_places.word_start = places.word_start
    AND family_places.word_end = places.word_end
