-- reads:  seeds(doc_a, doc_b, seeds), marked(doc, words), fingerprints(doc, word)
-- writes: runs(doc_a, doc_b, run): the passages of each pair of documents, in words. Common text beside what founds a passage
--         belongs to it; but at least $min_words of the words that both sides have, or a tenth of them, lie outside of it
CREATE TABLE runs AS
WITH lengths AS (
    SELECT doc, max(word) AS words FROM fingerprints GROUP BY doc
),
-- The words of the longer document are joined last: where joins sort, those of the shorter one are sorted with the pairs.
paired AS (
    SELECT
        seeds.*,
        a.words > b.words AS swaps,
        CASE WHEN a.words > b.words THEN seeds.doc_b ELSE seeds.doc_a END AS shorter,
        CASE WHEN a.words > b.words THEN seeds.doc_a ELSE seeds.doc_b END AS longer
    FROM seeds JOIN lengths AS a ON seeds.doc_a = a.doc JOIN lengths AS b ON seeds.doc_b = b.doc
),
joined AS (
    SELECT
        paired.doc_a,
        paired.doc_b,
        paired.seeds,
        CASE WHEN paired.swaps THEN longer.words ELSE shorter.words END AS words_a,
        CASE WHEN paired.swaps THEN shorter.words ELSE longer.words END AS words_b
    FROM paired JOIN marked AS shorter ON paired.shorter = shorter.doc JOIN marked AS longer ON paired.longer = longer.doc
)
SELECT doc_a, doc_b, run
FROM (
    SELECT
        doc_a,
        doc_b,
        unnest(aligned_words(words_a, words_b, seeds, 1, $min_words, $similarity, doc_a = doc_b)) AS run
    FROM joined
)
WHERE run['unmarked'] >= least($min_words, run['shared'] * 0.1)
