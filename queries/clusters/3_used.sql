-- reads:  banded(text_id, set, bands), buckets(bucket)
-- writes: used(text_id, set, bands): the texts, without the buckets that were full before they came
CREATE VIEW used AS
WITH ranked AS (
    SELECT members.text_id, members.bucket, row_number() OVER (PARTITION BY members.bucket ORDER BY members.text_id) AS place
    FROM (SELECT text_id, unnest(bands) AS bucket FROM banded) AS members
    LEFT SEMI JOIN buckets ON members.bucket = buckets.bucket
),
left_out AS (
    SELECT text_id, array_agg(bucket) AS buckets FROM ranked WHERE place > $max_bucket GROUP BY text_id
)
SELECT
    banded.text_id,
    banded.set,
    CASE
        WHEN left_out.text_id IS NULL THEN banded.bands
        ELSE array_sort(array_except(banded.bands, left_out.buckets))
    END AS bands
FROM left_out RIGHT JOIN banded ON left_out.text_id = banded.text_id
