-- reads:  common(doc_a, doc_b, elements), postings(doc)
-- writes: scores(doc_a, doc_b, score, score_back): the share of a document that is in another, and of that in it
CREATE TABLE scores AS
WITH sizes AS (
    SELECT doc, count(*) AS elements FROM postings GROUP BY doc
),
shares AS (
    SELECT
        common.doc_a,
        common.doc_b,
        CAST(common.elements AS DOUBLE) / a.elements AS score_a,
        CAST(common.elements AS DOUBLE) / b.elements AS score_b
    FROM common JOIN sizes AS a ON common.doc_a = a.doc JOIN sizes AS b ON common.doc_b = b.doc
)
SELECT doc_a, doc_b, score_a AS score, score_b AS score_back FROM shares WHERE score_a >= $threshold
UNION ALL
SELECT doc_b AS doc_a, doc_a AS doc_b, score_b AS score, score_a AS score_back FROM shares WHERE score_b >= $threshold
