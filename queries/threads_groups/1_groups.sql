-- reads:  pairs(doc_a, doc_b)
-- writes: groups(doc, group_id): the threads that pairs connect, directly or through others
CREATE TABLE groups AS
SELECT member['member'] AS doc, member['cluster_id'] AS group_id
FROM (SELECT unnest(connected_components(doc_a, doc_b)) AS member FROM pairs)
