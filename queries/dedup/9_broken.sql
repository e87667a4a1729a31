-- reads:  removed_units(unit, kept_unit, similarity, containment), stand_ins(member, other), redundant(text_id), keepers(text_id)
-- writes: one row: how many pieces went for one that went, too, or for one that is not as similar as $threshold; how many texts went for
--         none; and how many that stay another that stays can stand for: 0, 0 and 0 unless something is wrong
SELECT
    (
        SELECT CAST(count(*) AS BIGINT)
        FROM removed_units AS gone LEFT JOIN removed_units AS again ON gone.kept_unit = again.unit
        WHERE again.unit IS NOT NULL OR gone.$measure < $threshold
    ) AS without_partner,
    (SELECT CAST(count(*) AS BIGINT) FROM redundant LEFT ANTI JOIN keepers ON redundant.text_id = keepers.text_id) AS without_keeper,
    (
        SELECT CAST(count(*) AS BIGINT)
        FROM (SELECT * FROM stand_ins LEFT ANTI JOIN redundant ON stand_ins.member = redundant.text_id) AS staying
        LEFT ANTI JOIN redundant ON staying.other = redundant.text_id
    ) AS alike
