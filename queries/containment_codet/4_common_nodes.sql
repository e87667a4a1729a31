-- reads:  nodes(side, doc, node, weight, times)
-- writes: common_nodes(doc_a, doc_b, weight): CS(A, C) of CoDet (Varol et al. 2011, section 3), for each two documents that share a node
CREATE TABLE common_nodes AS
WITH visits AS (
    SELECT a.doc AS doc_a, b.doc AS doc_b, a.times * b.times * a.weight AS weight
    FROM nodes AS a JOIN nodes AS b ON a.node = b.node AND a.doc < b.doc
    WHERE (NOT $against OR a.side <> b.side) AND (NOT $add OR a.side = 1)
    UNION ALL
    -- If documents are added, a second part joins the documents of the index only with the new ones.
    SELECT a.doc AS doc_a, b.doc AS doc_b, a.times * b.times * a.weight AS weight
    FROM nodes AS a JOIN nodes AS b ON a.node = b.node AND a.doc < b.doc
    WHERE $add AND a.side = 0 AND b.side = 1
)
SELECT doc_a, doc_b, sum(weight) AS weight FROM visits GROUP BY doc_a, doc_b
