-- reads:  found(…), sides(side, doc_id, characters)
-- writes: placed(…): the same, with all characters of the documents; those of b are of collection $side_b
CREATE VIEW placed AS
SELECT
    found.* EXCEPT (char_a_start, char_a_end, char_b_start, char_b_end),
    CAST(0 AS BIGINT) AS char_a_start,
    CAST(a.characters AS BIGINT) AS char_a_end,
    CAST(0 AS BIGINT) AS char_b_start,
    CAST(b.characters AS BIGINT) AS char_b_end
FROM found
JOIN sides AS a ON a.side = 0 AND found.doc_a = a.doc_id
JOIN sides AS b ON b.side = $side_b AND found.doc_b = b.doc_id
