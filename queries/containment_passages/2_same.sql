-- reads:  places(text)
-- writes: alike(text_a, text_b): which sentences are in which: each in those that are word for word the same
CREATE TABLE alike AS
SELECT DISTINCT text AS text_a, text AS text_b FROM places
