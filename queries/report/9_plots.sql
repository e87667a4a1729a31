-- reads:  matches(…)
-- writes: the pairs of documents with most matches in sentences, $most_plots of them: how many, and how many sentences they reach over
SELECT
    doc_a,
    doc_b,
    CAST(count(*) AS BIGINT) AS matches,
    CAST(max(sent_a_end) AS BIGINT) AS sentences_a,
    CAST(max(sent_b_end) AS BIGINT) AS sentences_b
FROM matches
WHERE sent_a_start IS NOT NULL AND sent_b_start IS NOT NULL
GROUP BY doc_a, doc_b
ORDER BY matches DESC, doc_a, doc_b
LIMIT $most_plots
