-- reads:  texts(text_id, field, set)
-- writes: postings(field, element, text_id, length): the texts that have each element
CREATE TABLE postings AS
SELECT field, unnest(set) AS element, text_id, cardinality(set) AS length FROM texts
