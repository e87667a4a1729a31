-- reads:  postings(field, element, text_id), capped(number, element), shared(elements)
-- writes: one row: the pairs of postings, those of them whose lengths allow a match, and the pairs of texts they make
SELECT
    (
        SELECT CAST(coalesce(sum(texts * (texts - 1) / 2), 0) AS BIGINT)
        FROM (SELECT count(*) AS texts FROM postings GROUP BY field, element)
        WHERE texts <= $max_postings
    ) AS met,
    (SELECT CAST(coalesce(sum(elements), 0) AS BIGINT) FROM shared) AS of_like_length,
    (SELECT count(*) FROM shared) AS compared
