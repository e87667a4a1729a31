-- reads:  items(item, length), occurrences(text_id, doc, side), contained_texts(text_a, text_b, score)
-- writes: tested(item, words, is_tested, documents, share): the items, whether they were looked for, how many documents contain them, and
--         the greatest share of them that one does
CREATE TABLE tested AS
WITH sums AS (
    SELECT contained_texts.text_a AS text_id, count(*) AS documents, max(contained_texts.score) AS share
    FROM contained_texts JOIN occurrences ON contained_texts.text_b = occurrences.text_id AND occurrences.side = 1
    GROUP BY contained_texts.text_a
),
placed AS (
    SELECT occurrences.doc AS item, sums.documents, sums.share
    FROM sums RIGHT JOIN occurrences ON sums.text_id = occurrences.text_id
    WHERE occurrences.side = 0
)
SELECT
    items.item,
    items.length AS words,
    placed.item IS NOT NULL AS is_tested,
    CAST(coalesce(placed.documents, 0) AS BIGINT) AS documents,
    coalesce(placed.share, 0) AS share
FROM placed RIGHT JOIN items ON placed.item = items.item
