-- reads:  diagonals(doc, item, shift), grams(item, k, gram, word), met(doc, k, gram, word)
-- writes: runs(doc, item, word_start, word_end, item_word_start, item_word_end): the words that a document and an item have in common, as
--         far as they reach; of such as overlap in the document one, with the place in the item of the longest of them
CREATE TABLE runs AS
WITH shared AS (
    SELECT met.doc, grams.item, diagonals.shift, grams.k, met.word
    FROM diagonals
    JOIN grams ON diagonals.item = grams.item
    JOIN met
        ON diagonals.doc = met.doc
        AND grams.word + diagonals.shift = met.word
        AND grams.gram = met.gram
        AND grams.k = met.k
),
numbered AS (
    -- Neighbours differ by as much as their places in the order.
    SELECT *, word - row_number() OVER (PARTITION BY doc, item, shift ORDER BY word) AS run FROM shared
),
straight AS (
    SELECT doc, item, shift, min(word) AS word_start, max(word + k) AS word_end
    FROM numbered
    GROUP BY doc, item, shift, run
),
begun AS (
    SELECT
        *,
        coalesce(
            word_start >= max(word_end) OVER (
                PARTITION BY doc, item
                ORDER BY word_start, word_end, shift
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ),
            true
        ) AS begins
    FROM straight
),
merged AS (
    SELECT
        *,
        sum(CASE WHEN begins THEN 1 ELSE 0 END) OVER (
            PARTITION BY doc, item
            ORDER BY word_start, word_end, shift
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS part
    FROM begun
)
SELECT
    doc,
    item,
    word_start,
    word_end,
    CAST(4294967295 - longest % 4294967296 AS INT) AS item_word_start,
    CAST(4294967295 - longest % 4294967296 + longest / 4294967296 AS INT) AS item_word_end
FROM (
    SELECT
        doc,
        item,
        CAST(min(word_start) AS INT) AS word_start,
        CAST(max(word_end) AS INT) AS word_end,
        -- Of equally long ones the first in the item.
        max(CAST(word_end - word_start AS BIGINT) * 4294967296 + 4294967295 - (word_start - shift)) AS longest
    FROM merged
    GROUP BY doc, item, part
)
