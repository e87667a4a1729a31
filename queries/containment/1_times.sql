-- reads:  docs(doc, side, doc_id), documents(doc_id, …), against_documents(doc_id, …)
-- writes: times(doc, seconds): when each document came, $time; NULL where that cannot be told
CREATE TABLE times AS
WITH given AS (
    SELECT 0 AS side, doc_id, $time AS seconds FROM documents
    UNION ALL
    SELECT 1 AS side, doc_id, $time AS seconds FROM against_documents
)
SELECT docs.doc, given.seconds FROM docs JOIN given ON docs.side = given.side AND docs.doc_id = given.doc_id
