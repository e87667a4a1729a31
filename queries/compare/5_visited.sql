-- reads:  nodes(doc, node)
-- writes: one row: how many pairs of documents visit a node that is the same
SELECT count(*) AS pairs
FROM (
    SELECT a.doc AS doc_a, b.doc AS doc_b
    FROM nodes AS a JOIN nodes AS b ON a.node = b.node AND a.doc < b.doc
    GROUP BY a.doc, b.doc
)
