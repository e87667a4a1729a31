-- reads:  groups(doc, group_id), docs(doc, side, doc_id), documents(doc_id, …), against_documents(doc_id, …)
-- writes: canonical(doc, canonical): for each thread of a group the one to keep: where $rank is least, then the first by id
CREATE TABLE canonical AS
WITH ranked AS (
    SELECT 0 AS side, doc_id, $rank AS rank FROM documents
    UNION ALL
    SELECT 1 AS side, doc_id, $rank AS rank FROM against_documents
)
SELECT
    groups.doc,
    first_value(groups.doc) OVER (
        PARTITION BY groups.group_id ORDER BY ranked.rank ASC NULLS LAST, docs.doc_id, groups.doc
    ) AS canonical
FROM groups
JOIN docs ON groups.doc = docs.doc
JOIN ranked ON docs.side = ranked.side AND docs.doc_id = ranked.doc_id
