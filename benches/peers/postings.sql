-- reads:  postings(id, size, element)
-- writes: pairs: texts that share an element, if their sizes allow a match, and how many they share
CREATE VIEW pairs AS
SELECT a.id AS id_a, b.id AS id_b
FROM postings AS a
JOIN postings AS b
    ON a.element = b.element
    AND a.id < b.id
    AND a.size >= least_shared(threshold(), b.size)
    AND b.size >= least_shared(threshold(), a.size)
GROUP BY a.id, b.id, a.size, b.size
HAVING jaccard(count(*), a.size, b.size) >= threshold();
