-- reads:  texts(set), places(places, pairs)
-- writes: one row: the distinct texts of the sample, their elements, how many of these they show to the join at most; how many
--         pairs of places the texts stand for, those too frequent, and how many these are
SELECT
    count(*) AS texts,
    CAST(coalesce(sum(cardinality(set)), 0) AS BIGINT) AS elements,
    CAST(coalesce(sum(cardinality(prefix_filter(set, $measure, $least))), 0) AS BIGINT) AS shown,
    CAST(coalesce(sum(pairs) FILTER (WHERE places <= $max_frequency), 0) AS BIGINT) AS pairs,
    CAST(coalesce(sum(pairs) FILTER (WHERE places > $max_frequency), 0) AS BIGINT) AS capped_pairs,
    count(*) FILTER (WHERE places > $max_frequency AND pairs > 0) AS capped_texts
FROM texts JOIN places ON texts.text_id = places.text_id
