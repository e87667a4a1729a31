-- reads:  banded(text_id, bands), units(unit, text)
-- writes: buckets(bucket, texts, pairs_not_made, example): the signatures that more than $max_bucket texts have; the first
--         $max_bucket of them are compared, with each other or, $with_all, with all
CREATE TABLE buckets AS
WITH full AS (
    SELECT bucket, count(*) AS texts, min(text_id) AS text_id
    FROM (SELECT text_id, unnest(bands) AS bucket FROM banded)
    GROUP BY bucket
    HAVING count(*) > $max_bucket
)
SELECT
    full.bucket,
    full.texts,
    (full.texts - $max_bucket) * (full.texts - $max_bucket - 1) / 2
        + CASE WHEN $with_all THEN 0 ELSE $max_bucket * (full.texts - $max_bucket) END AS pairs_not_made,
    units.text AS example
FROM full JOIN units ON full.text_id = units.unit
