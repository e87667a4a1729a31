-- reads:  runs(doc, word_start, word_end, kept_doc, kept_word_start, kept_word_end), removed_units(unit)
-- writes: one row: how many passages went for one of which a word went, too; how many have none; and 0
SELECT
    (
        SELECT CAST(count(*) AS BIGINT)
        FROM (
            SELECT
                starts,
                -- The last end of the removed passages that begin before the end of a kept one.
                max(goes_until) OVER (
                    PARTITION BY doc ORDER BY word, goes_until NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS reach
            FROM (
                SELECT doc, word_start AS word, word_end AS goes_until, CAST(NULL AS INT) AS starts FROM runs
                UNION ALL
                SELECT kept_doc, kept_word_end, CAST(NULL AS INT), kept_word_start FROM runs
            )
        )
        WHERE reach > starts
    ) AS without_partner,
    (SELECT CAST(count(*) AS BIGINT) FROM runs) - (SELECT CAST(count(*) AS BIGINT) FROM removed_units) AS without_keeper,
    CAST(0 AS BIGINT) AS alike
