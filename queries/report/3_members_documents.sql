-- reads:  grouped(…), sides(side, doc_id, characters, seconds)
-- writes: members(group_id, side, doc_id, char_start, char_end, representative, similarity, ignored, seconds)
CREATE TABLE members AS
SELECT
    grouped.group_id,
    grouped.side,
    grouped.doc_id,
    CAST(0 AS BIGINT) AS char_start,
    CAST(sides.characters AS BIGINT) AS char_end,
    grouped.representative,
    grouped.similarity,
    grouped.ignored,
    sides.seconds
FROM grouped JOIN sides ON grouped.side = sides.side AND grouped.doc_id = sides.doc_id
