-- reads:  grouped(…), sides(side, doc_id, seconds)
-- writes: members(group_id, side, doc_id, char_start, char_end, representative, similarity, ignored, seconds)
CREATE TABLE members AS
SELECT
    grouped.group_id,
    grouped.side,
    grouped.doc_id,
    grouped.char_start,
    grouped.char_end,
    grouped.representative,
    grouped.similarity,
    grouped.ignored,
    sides.seconds
FROM grouped JOIN sides ON grouped.side = sides.side AND grouped.doc_id = sides.doc_id
