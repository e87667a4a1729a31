-- reads:  postings(doc, element)
-- writes: common(doc_a, doc_b, elements): each pair of documents that have an element in common, and how many; full fingerprinting
--         as CoDet's paper ran it (Varol et al. 2011)
CREATE TABLE common AS
SELECT a.doc AS doc_a, b.doc AS doc_b, count(*) AS elements
FROM postings AS a JOIN postings AS b ON a.element = b.element AND a.doc < b.doc
GROUP BY a.doc, b.doc
