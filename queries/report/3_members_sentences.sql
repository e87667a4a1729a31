-- reads:  grouped(…), sides(side, doc_id, seconds), sided_sentences(side, doc_id, sent, char_start, char_end)
-- writes: members(group_id, side, doc_id, char_start, char_end, representative, similarity, ignored, seconds)
CREATE TABLE members AS
SELECT
    grouped.group_id,
    grouped.side,
    grouped.doc_id,
    places.char_start,
    places.char_end,
    grouped.representative,
    grouped.similarity,
    grouped.ignored,
    sides.seconds
FROM grouped
JOIN sides ON grouped.side = sides.side AND grouped.doc_id = sides.doc_id
JOIN sided_sentences AS places ON grouped.side = places.side AND grouped.doc_id = places.doc_id AND grouped.sent = places.sent
