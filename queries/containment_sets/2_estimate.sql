-- reads:  contained_texts(text_a, text_b), texts(text_id, units, against_units)
-- writes: one row: how many pairs of places these texts stand for, at most
SELECT
    CAST(
        coalesce(
            sum(
                CASE
                    WHEN $against THEN (a.units - a.against_units) * b.against_units
                    WHEN $add THEN a.units * b.units - (a.units - a.against_units) * (b.units - b.against_units)
                    ELSE a.units * b.units
                END
            ),
            0
        )
        AS BIGINT
    ) AS pairs
FROM contained_texts
JOIN texts AS a ON contained_texts.text_a = a.text_id
JOIN texts AS b ON contained_texts.text_b = b.text_id
