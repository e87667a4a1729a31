-- reads:  common_nodes(doc_a, doc_b)
-- writes: one row: how many pairs of documents visit a node that is the same
SELECT count(*) AS pairs FROM common_nodes
