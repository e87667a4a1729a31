-- reads:  runs(doc, item, word_start, word_end, item_word_start, item_word_end), items(item, length), grams(item, k, gram, word),
--         owned(k, gram, items)
-- writes: hits(doc, item, word_start, word_end, item_word_start, item_word_end, rule, share, items): these runs, the share of the item
--         that each has, and in how many items each run of k words of it stands at least
CREATE TABLE hits AS
SELECT
    runs.*,
    CASE WHEN runs.item_word_end - runs.item_word_start = items.length THEN 'whole' ELSE 'run' END AS rule,
    (runs.item_word_end - runs.item_word_start) / CAST(items.length AS DOUBLE) AS share,
    frequencies.items
FROM runs
JOIN items ON runs.item = items.item
JOIN (
    SELECT runs.item, runs.item_word_start, runs.item_word_end, min(owned.items) AS items
    FROM (SELECT DISTINCT item, item_word_start, item_word_end FROM runs) AS runs
    JOIN grams
        ON runs.item = grams.item
        AND grams.word >= runs.item_word_start
        AND grams.word + grams.k <= runs.item_word_end
    JOIN owned ON grams.gram = owned.gram AND grams.k = owned.k
    GROUP BY runs.item, runs.item_word_start, runs.item_word_end
) AS frequencies
    ON runs.item = frequencies.item
    AND runs.item_word_start = frequencies.item_word_start
    AND runs.item_word_end = frequencies.item_word_end
