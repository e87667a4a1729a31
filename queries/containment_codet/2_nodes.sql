-- reads:  units(unit, side, doc, text), reference(frequencies)
-- writes: nodes(side, doc, node, weight, times): the tree of the words of all sentences, rarest first, as the hashes of its paths:
--         how many sentences of a document visit each node, and its depth times the idf of its word
CREATE TABLE nodes AS
-- A node has one weight, and a document has one side, so neither needs to be a column of GROUP BY.
SELECT max(side) AS side, doc, visited['node'] AS node, max(visited['weight']) AS weight, count(*) AS times
FROM (
    SELECT
        side,
        doc,
        unnest(
            trie_nodes(words(normalize(text)), (SELECT frequencies FROM reference), $depth, $suffixes, $sorted)
        ) AS visited
    FROM units
)
GROUP BY doc, visited['node']
