-- reads:  seeds(doc_a, doc_b, seeds), marked(doc, words), fingerprints(doc, word)
-- writes: runs(doc_a, doc_b, run): the passages of each pair of documents, in words. Common text beside what founds a passage
--         belongs to it; but at least $min_words of the words that both sides have, or a tenth of them, lie outside of it
CREATE TABLE runs AS
WITH lengths AS (
    SELECT doc, max(word) AS words FROM fingerprints GROUP BY doc
),
paired AS (
    SELECT
        seeds.*,
        a.words > b.words AS swaps,
        CASE WHEN a.words > b.words THEN seeds.doc_b ELSE seeds.doc_a END AS shorter,
        CASE WHEN a.words > b.words THEN seeds.doc_a ELSE seeds.doc_b END AS longer
    FROM seeds JOIN lengths AS a ON seeds.doc_a = a.doc JOIN lengths AS b ON seeds.doc_b = b.doc
),
-- A join holds its first input: the words of documents, not the words of pairs, which may be many more. The words of the two
-- documents are joined one after the other, the longer document last: if joins sort, the words of the shorter document are
-- sorted with the pairs.
half AS (
    SELECT paired.*, marked.words AS words FROM marked JOIN paired ON marked.doc = paired.shorter
),
joined AS (
    SELECT
        half.doc_a,
        half.doc_b,
        half.seeds,
        CASE WHEN half.swaps THEN marked.words ELSE half.words END AS words_a,
        CASE WHEN half.swaps THEN half.words ELSE marked.words END AS words_b
    FROM marked JOIN half ON marked.doc = half.longer
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
