-- Every two texts that share one of their first elements, rarest first, where sizes and places allow a match (prefix and
-- positional filter); then the sets are compared.
CREATE TABLE sets AS SELECT id, shingles(string_split(text, ' ')) AS set FROM texts;
CREATE TABLE ranked AS
WITH postings AS (SELECT id, len(set) AS size, unnest(set) AS element FROM sets),
frequencies AS (SELECT element, count(*) AS texts FROM postings GROUP BY element)
SELECT id, size, element, texts, row_number() OVER (PARTITION BY id ORDER BY texts, element) AS place
FROM postings JOIN frequencies USING (element);
CREATE TABLE prefixes AS
SELECT * FROM ranked WHERE texts > 1 AND place <= size - at_least(size) + 1;
CREATE TABLE candidates AS
SELECT DISTINCT a.id AS id_a, b.id AS id_b
FROM prefixes AS a
JOIN prefixes AS b
    ON a.element = b.element
    -- a is the smaller, whose prefix may then be shorter.
    AND (a.size, a.id) < (b.size, b.id)
    AND a.size >= at_least(b.size)
    AND jaccard(least(a.size - a.place, b.size - b.place) + 1, a.size, b.size) >= threshold()
WHERE a.place <= a.size - at_least_of_smaller(a.size) + 1;
CREATE VIEW pairs AS
SELECT least(id_a, id_b) AS id_a, greatest(id_a, id_b) AS id_b
FROM candidates JOIN sets AS a ON id_a = a.id JOIN sets AS b ON id_b = b.id
WHERE jaccard(len(list_intersect(a.set, b.set)), len(a.set), len(b.set)) >= threshold();
