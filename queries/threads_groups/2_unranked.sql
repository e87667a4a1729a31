-- reads:  groups(doc), docs(doc, side, doc_id), documents(doc_id, …), against_documents(doc_id, …)
-- writes: the threads of groups that cannot be ranked by what they have, $ranked_by
WITH given AS (
    SELECT 0 AS side, doc_id, CAST($ranked_by AS VARCHAR) AS given, $rank AS rank FROM documents
    UNION ALL
    SELECT 1 AS side, doc_id, CAST($ranked_by AS VARCHAR) AS given, $rank AS rank FROM against_documents
)
SELECT docs.doc_id AS id, given.given
FROM groups
JOIN docs ON groups.doc = docs.doc
JOIN given ON docs.side = given.side AND docs.doc_id = given.doc_id
WHERE given.given <> '' AND given.rank IS NULL
ORDER BY groups.doc
