-- reads:  scores(doc_a, doc_b, score, score_back), truth(doc_a, doc_b, share, share_back)
-- writes: a row of the comparison: what was found beside what is labelled, at what cost
WITH directions AS (
    SELECT doc_a, doc_b, max(share) >= $label_threshold AS is_contained
    FROM (
        SELECT doc_a, doc_b, share FROM truth
        UNION ALL
        SELECT doc_b AS doc_a, doc_a AS doc_b, share_back AS share FROM truth WHERE share_back IS NOT NULL
    )
    GROUP BY doc_a, doc_b
),
judged AS (
    SELECT
        count(*) AS found,
        count(*) FILTER (WHERE is_contained) AS correct,
        count(*) FILTER (WHERE NOT is_contained) AS wrong,
        count(*) FILTER (WHERE is_contained IS NULL) AS unlabelled
    FROM scores LEFT JOIN directions ON scores.doc_a = directions.doc_a AND scores.doc_b = directions.doc_b
),
counted AS (
    SELECT
        *,
        correct + wrong + CASE WHEN $complete THEN unlabelled ELSE 0 END AS judged,
        (SELECT count(*) FROM directions WHERE is_contained) AS to_find
    FROM judged
),
-- A pair that was not found has score 0.
said AS (
    SELECT
        truth.share,
        truth.share_back,
        coalesce(there.score, back.score_back, 0) AS score,
        coalesce(there.score_back, back.score, 0) AS score_back
    FROM truth
    LEFT JOIN scores AS there ON truth.doc_a = there.doc_a AND truth.doc_b = there.doc_b
    LEFT JOIN scores AS back ON truth.doc_a = back.doc_b AND truth.doc_b = back.doc_a
    WHERE $measured
),
errors AS (
    SELECT
        -- The values are decimals, so that the sum does not depend on the order of rows.
        CAST(avg(CAST(abs(share - score) AS DECIMAL(30, 15))) AS DOUBLE) AS score_error,
        CAST(avg(CAST(abs(share_back - score_back) AS DECIMAL(30, 15))) AS DOUBLE) AS back_error,
        avg(CASE WHEN (share - share_back) * (score - score_back) > 0 THEN 1.0 ELSE 0.0 END)
            FILTER (WHERE share <> share_back) AS direction_right
    FROM said
)
SELECT
    $method AS method,
    $options AS options,
    CAST(correct AS DOUBLE) / nullif(judged, 0) AS precision,
    CAST(correct AS DOUBLE) / nullif(to_find, 0) AS recall,
    CAST(2 * correct AS DOUBLE) / nullif(judged + to_find, 0) AS f1,
    found,
    unlabelled,
    score_error,
    back_error,
    direction_right,
    CAST($compared AS DOUBLE) AS compared,
    CAST($steps AS DOUBLE) AS steps,
    $seconds AS seconds,
    $cpu_seconds AS cpu_seconds
FROM counted CROSS JOIN errors
