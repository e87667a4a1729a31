-- reads:  codes(side, doc, code)
-- writes: near(doc_a, doc_b, score): the documents whose codes differ in at most $distance bits; the score is the share of bits
--         that are the same
CREATE TABLE near AS
SELECT a.doc AS doc_a, b.doc AS doc_b, 1 - hamming(a.code, b.code) / 64.0 AS score
FROM codes AS a JOIN codes AS b ON hamming(a.code, b.code) <= $distance AND a.doc < b.doc
WHERE (NOT $against OR a.side <> b.side) AND (NOT $add OR a.side = 1 OR b.side = 1)
