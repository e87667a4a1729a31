-- reads:  occurrences(text_id, unit), measured(text_id, keeper, similarity, containment, containment_back)
-- writes: removed_units(unit, kept_unit, similarity, containment, containment_back, rule): the pieces that go, each with the one that stays
--         for it: `equal` where both have the same text or the same set
CREATE TABLE removed_units AS
SELECT
    occurrences.unit,
    coalesce(measured.keeper, occurrences.text_id) AS kept_unit,
    coalesce(measured.similarity, CAST(1 AS DOUBLE)) AS similarity,
    coalesce(measured.containment, CAST(1 AS DOUBLE)) AS containment,
    coalesce(measured.containment_back, CAST(1 AS DOUBLE)) AS containment_back,
    CASE WHEN measured.keeper IS NULL THEN 'equal' ELSE $rule END AS rule
FROM measured RIGHT JOIN occurrences ON measured.text_id = occurrences.text_id
WHERE measured.keeper IS NOT NULL OR occurrences.unit > occurrences.text_id
