-- reads:  met(doc, k, gram, word)
-- writes: stretched(doc, of_item, k, stretch, gram, word): the runs of each document by the stretches in which one begins at each word,
--         whichever items have them
CREATE TABLE stretched AS
SELECT
    doc,
    CAST(-1 AS BIGINT) AS of_item,
    k,
    -- The difference of the word and its row number is the same for consecutive words.
    CAST(word AS BIGINT) - CAST(row_number() OVER (PARTITION BY doc, k ORDER BY word) AS BIGINT) AS stretch,
    gram,
    word
FROM met
