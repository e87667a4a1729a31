-- Every two texts that share an element, if their sizes allow a match; then how many they share.
CREATE TABLE sets AS SELECT id, shingles(string_split(text, ' ')) AS set FROM texts;
CREATE TABLE postings AS SELECT id, len(set) AS size, unnest(set) AS element FROM sets;
CREATE VIEW pairs AS
SELECT a.id AS id_a, b.id AS id_b
FROM postings AS a
JOIN postings AS b
    ON a.element = b.element AND a.id < b.id AND a.size >= at_least(b.size) AND b.size >= at_least(a.size)
GROUP BY a.id, b.id, a.size, b.size
HAVING jaccard(count(*), a.size, b.size) >= threshold();
