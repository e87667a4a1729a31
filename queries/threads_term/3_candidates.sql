-- reads:  postings(field, element, text_id, length, is_left, is_right), capped(number, element)
-- writes: shared(text_a, text_b, elements): the texts that have elements in common, by the term-based plan of QA-THREADS
--         (Wu et al. 2011, algorithm 1): each list of postings with itself, the ratio of the lengths (equation 2), and how
--         many lists a pair stands in
CREATE TABLE shared AS
WITH kept AS (
    SELECT postings.*
    FROM postings
    LEFT ANTI JOIN capped ON postings.field = capped.number AND postings.element = capped.element
)
SELECT a.text_id AS text_a, b.text_id AS text_b, count(*) AS elements
FROM kept AS a
JOIN kept AS b
    ON a.field = b.field
    AND a.element = b.element
    AND a.is_left
    AND b.is_right
    AND (a.text_id < b.text_id OR (a.text_id > b.text_id AND NOT (a.is_right AND b.is_left)))
    AND a.length >= $least * b.length
    AND b.length >= $least * a.length
GROUP BY a.text_id, b.text_id
