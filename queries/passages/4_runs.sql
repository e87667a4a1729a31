-- reads:  seeds(doc_a, doc_b, seeds), marked(doc, words)
-- writes: runs(doc_a, doc_b, run): the passages of each pair of documents, in words. Common text beside what founds a passage
--         belongs to it; but at least $min_words of the words that both sides have, or a tenth of them, lie outside of it
CREATE TABLE runs AS
SELECT doc_a, doc_b, run
FROM (
    SELECT
        seeds.doc_a,
        seeds.doc_b,
        unnest(aligned_words(a.words, b.words, seeds.seeds, 1, $min_words, $threshold, seeds.doc_a = seeds.doc_b)) AS run
    FROM seeds JOIN marked AS a ON seeds.doc_a = a.doc JOIN marked AS b ON seeds.doc_b = b.doc
)
WHERE run['unmarked'] >= least($min_words, run['shared'] * 0.1)
