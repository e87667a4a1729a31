-- reads:  codes(side, doc, code)
-- writes: scores(doc_a, doc_b, score, score_back): the documents whose codes differ in at most $distance bits; the score is the
--         share of bits that are the same, both ways
CREATE TABLE scores AS
WITH near AS (
    SELECT a.doc AS doc_a, b.doc AS doc_b, 1 - hamming(a.code, b.code) / 64.0 AS score
    FROM codes AS a JOIN codes AS b ON hamming(a.code, b.code) <= $distance AND a.doc < b.doc
    WHERE (NOT $against OR a.side <> b.side) AND (NOT $add OR a.side = 1 OR b.side = 1)
)
SELECT doc_a, doc_b, score, score AS score_back FROM near
UNION ALL
SELECT doc_b AS doc_a, doc_a AS doc_b, score, score AS score_back FROM near WHERE NOT $against
