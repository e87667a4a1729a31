-- reads:  texts(text_id, field, set, threads, against_threads)
-- writes: postings(field, element, text_id, length, is_left, is_right): the texts that have each element, and whether a text
--         may be the first and the second of a pair: of two collections a text of the one and a text of the other
CREATE TABLE postings AS
SELECT
    field,
    unnest(set) AS element,
    text_id,
    cardinality(set) AS length,
    NOT $against OR threads > against_threads AS is_left,
    NOT $against OR against_threads > 0 AS is_right
FROM texts
