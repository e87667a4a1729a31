-- reads:  diagonals(doc, of_item, k, stretch, item, shift), stretched(doc, of_item, k, stretch, gram, word), grams(item, k, gram, word)
-- writes: runs(doc, item, word_start, word_end, item_word_start, item_word_end): of each stretch and each item that has a run of it the
--         words that they have in common, as far as these reach; the longest where there are several, and of equally long ones the first
CREATE TABLE runs AS
WITH shared AS (
    SELECT diagonals.doc, diagonals.of_item, diagonals.k, diagonals.stretch, diagonals.item, diagonals.shift, stretched.word
    FROM diagonals
    JOIN stretched
        ON diagonals.doc = stretched.doc
        AND diagonals.of_item = stretched.of_item
        AND diagonals.k = stretched.k
        AND diagonals.stretch = stretched.stretch
    JOIN grams
        ON diagonals.item = grams.item
        AND stretched.k = grams.k
        AND stretched.gram = grams.gram
        AND stretched.word - diagonals.shift = grams.word
),
numbered AS (
    SELECT
        *,
        CAST(word AS BIGINT)
            - CAST(row_number() OVER (PARTITION BY doc, of_item, k, stretch, item, shift ORDER BY word) AS BIGINT) AS run
    FROM shared
),
straight AS (
    SELECT doc, of_item, k, stretch, item, shift, min(word) AS word_start, max(word + k) AS word_end
    FROM numbered
    GROUP BY doc, of_item, k, stretch, item, shift, run
),
ranked AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY doc, of_item, k, stretch, item ORDER BY word_start - word_end, word_start, word_start - shift
        ) AS place
    FROM straight
)
SELECT
    doc,
    item,
    CAST(word_start AS INT) AS word_start,
    CAST(word_end AS INT) AS word_end,
    CAST(word_start - shift AS INT) AS item_word_start,
    CAST(word_end - shift AS INT) AS item_word_end
FROM ranked
WHERE place = 1
