-- reads:  postings(field, element, is_left, is_right), shared(elements)
-- writes: one row: the pairs of postings, those of them whose lengths allow a match, and the pairs of texts they make
SELECT
    (
        SELECT CAST(coalesce(sum(lefts * rights - both - both * (both - 1) / 2), 0) AS BIGINT)
        FROM (
            SELECT
                count(*) AS texts,
                count(*) FILTER (WHERE is_left) AS lefts,
                count(*) FILTER (WHERE is_right) AS rights,
                count(*) FILTER (WHERE is_left AND is_right) AS both
            FROM postings
            GROUP BY field, element
        )
        WHERE texts <= $max_postings
    ) AS met,
    (SELECT CAST(coalesce(sum(elements), 0) AS BIGINT) FROM shared) AS of_like_length,
    (SELECT count(*) FROM shared) AS compared
