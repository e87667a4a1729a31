-- reads:  placed(position), tested(documents)
-- writes: one row: in how many documents there is something of an item, and of how many items
SELECT
    (SELECT CAST(count(DISTINCT position) AS BIGINT) FROM placed) AS documents,
    (SELECT CAST(count(*) AS BIGINT) FROM tested WHERE documents > 0) AS items
