-- reads:  postings(field, element, text_id), occurrences(text_id, doc), docs(doc, doc_id)
-- writes: capped(field, element, texts, pairs_not_made, example): the elements of more than $max_postings texts, which found no
--         pair; $fields are the names of the fields
CREATE TABLE capped AS
WITH long AS (
    SELECT field, element, count(*) AS texts, min(text_id) AS text_id
    FROM postings
    GROUP BY field, element
    HAVING count(*) > $max_postings
),
first AS (
    SELECT text_id, min(doc) AS doc FROM occurrences GROUP BY text_id
)
SELECT
    array_element($fields, long.field + 1) AS field,
    long.element,
    long.texts,
    long.texts * (long.texts - 1) / 2 AS pairs_not_made,
    docs.doc_id AS example,
    long.field AS number
FROM long JOIN first ON long.text_id = first.text_id JOIN docs ON first.doc = docs.doc
