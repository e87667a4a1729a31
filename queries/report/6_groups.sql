-- reads:  members(…)
-- writes: how many groups and places there are
SELECT CAST(count(DISTINCT group_id) AS BIGINT) AS groups, CAST(count(*) AS BIGINT) AS places FROM members
