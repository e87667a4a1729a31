-- reads:  postings(id, size, element)
-- writes: pairs: texts that share one of their first elements, rarest first, where sizes and places allow a match (prefix,
--         length and positional filter), and how many they share
CREATE TABLE prefixes AS
WITH frequencies AS (SELECT element, count(*) AS texts FROM postings GROUP BY element HAVING count(*) > 1)
SELECT
    id,
    size,
    element,
    -- Counted from the end, since elements of one text only, which meet none and have no row, come before all others.
    size + 1 - row_number() OVER (PARTITION BY id ORDER BY texts DESC, element) AS place
FROM postings JOIN frequencies USING (element)
QUALIFY place <= size - least_shared(threshold(), size) + 1;
CREATE TABLE candidates AS
SELECT DISTINCT a.id AS id_a, b.id AS id_b
FROM prefixes AS a
JOIN prefixes AS b
    ON a.element = b.element
    -- a is the smaller, whose prefix may be shorter.
    AND (a.size < b.size OR a.size = b.size AND a.id < b.id)
    AND a.size >= least_shared(threshold(), b.size)
    AND jaccard(least(a.size - a.place, b.size - b.place) + 1, a.size, b.size) >= threshold()
WHERE a.place <= a.size - least_shared(2 * threshold() / (1 + threshold()), a.size) + 1;
CREATE VIEW pairs AS
SELECT least(id_a, id_b) AS id_a, greatest(id_a, id_b) AS id_b
FROM candidates
JOIN postings AS a ON id_a = a.id
JOIN postings AS b ON id_b = b.id AND a.element = b.element
GROUP BY id_a, id_b, a.size, b.size
HAVING jaccard(count(*), a.size, b.size) >= threshold();
