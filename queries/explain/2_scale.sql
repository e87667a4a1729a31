-- reads:  texts(set), text_pairs(units, pairs)
-- writes: one row: the distinct texts of the sample, their elements, how many of these they show to the join at most, and how
--         many pairs of places all matches stand for, those of frequent texts among them
SELECT
    (SELECT count(*) FROM texts) AS texts,
    (SELECT CAST(coalesce(sum(cardinality(set)), 0) AS BIGINT) FROM texts) AS elements,
    (SELECT CAST(coalesce(sum(cardinality(prefix_filter(set, $measure, $least))), 0) AS BIGINT) FROM texts) AS shown,
    (SELECT CAST(coalesce(sum(pairs), 0) AS BIGINT) FROM text_pairs) AS pairs,
    (SELECT CAST(coalesce(sum(pairs), 0) AS BIGINT) FROM text_pairs WHERE units <= $max_frequency) AS pairs_to_make,
    (SELECT count(*) FROM text_pairs WHERE units > $max_frequency) AS frequent_texts
