-- reads:  contained_texts(text_a, text_b, score), occurrences(text_id, doc, side)
-- writes: scores(doc, item, score, items): the documents that contain an item, which share of it, and how many items have the same set; of
--         these the first is there alone
CREATE TABLE scores AS
SELECT containers.doc, contained.item, contained_texts.score, contained.items
FROM contained_texts
JOIN (
    SELECT text_id, min(doc) AS item, count(*) AS items FROM occurrences WHERE side = 0 GROUP BY text_id
) AS contained
    ON contained_texts.text_a = contained.text_id
JOIN (SELECT text_id, doc FROM occurrences WHERE side = 1) AS containers ON contained_texts.text_b = containers.text_id
