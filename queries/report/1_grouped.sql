-- reads:  result_groups: the rows of a method that has groups, of which parameters name the columns, NULL where there is none
-- writes: grouped(group_id, side, doc_id, char_start, char_end, sent, representative, similarity, ignored): the places of each group
CREATE VIEW grouped AS
SELECT
    CAST($group_id AS VARCHAR) AS group_id,
    CASE WHEN $collection = 'against' THEN 1 ELSE 0 END AS side,
    CAST($member AS VARCHAR) AS doc_id,
    CAST($char_start AS BIGINT) AS char_start,
    CAST($char_end AS BIGINT) AS char_end,
    CAST($sent AS BIGINT) AS sent,
    $representative AS representative,
    CAST($group_similarity AS DOUBLE) AS similarity,
    coalesce($ignored, false) AS ignored
FROM result_groups
