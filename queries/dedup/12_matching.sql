-- reads:  stand_ins(member, other, share, share_back), occurrences(text_id, unit)
-- writes: matching(unit, other, share, share_back): each two pieces that can stand for one another; of equal texts each with the first
CREATE VIEW matching AS
SELECT member AS unit, other, share, share_back FROM stand_ins
UNION ALL
SELECT unit, text_id AS other, CAST(1 AS DOUBLE) AS share, CAST(1 AS DOUBLE) AS share_back
FROM occurrences
WHERE unit > text_id
