-- reads:  texts(text_id, threads, against_threads), links(text_a, text_b)
-- writes: one row: how many pairs of threads the texts and links stand for, at most
SELECT CAST(coalesce(sum(pairs), 0) AS BIGINT) AS pairs
FROM (
    SELECT
        CASE WHEN $against THEN against_threads * (threads - against_threads) ELSE threads * (threads - 1) / 2 END AS pairs
    FROM texts
    UNION ALL
    SELECT
        CASE
            WHEN $against
                THEN a.against_threads * (b.threads - b.against_threads) + b.against_threads * (a.threads - a.against_threads)
            ELSE a.threads * b.threads
        END AS pairs
    FROM links JOIN texts AS a ON links.text_a = a.text_id JOIN texts AS b ON links.text_b = b.text_id
)
