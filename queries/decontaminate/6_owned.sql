-- reads:  grams(item, k, gram, word, again)
-- writes: owned(k, gram, item, word, items): of each run the first item that has it, where it first stands there, and in how many items
--         it stands: what all items have in common is one item's, so that it makes no pair with each of them
CREATE TABLE owned AS
SELECT k, gram, first / 4294967296 AS item, CAST(first % 4294967296 AS INT) AS word, items
FROM (
    -- Numbers are compared in a fraction of the time of structs.
    SELECT k, gram, min(item * 4294967296 + word) AS first, sum(CASE WHEN again THEN 0 ELSE 1 END) AS items
    FROM grams
    GROUP BY k, gram
)
