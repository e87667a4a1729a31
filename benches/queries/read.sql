-- reads:  sets.parquet(id, set)
-- writes: the number of elements: what join.sql reads, without the join
SELECT count(*) AS sets, sum(cardinality(set)) AS elements FROM 'sets.parquet'
