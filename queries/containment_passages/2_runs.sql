-- reads:  scores(doc_a, doc_b), sequences(doc, words)
-- writes: runs(doc_a, doc_b, run): the passages of each document found and its container, in words
CREATE TABLE runs AS
SELECT
    scores.doc_a,
    scores.doc_b,
    unnest(aligned_words(
        a.words,
        b.words,
        shared_fingerprints(a.words, b.words, $k, $window, $max_frequency),
        1,
        $min_words,
        $similarity
    )) AS run
FROM scores JOIN sequences AS a ON scores.doc_a = a.doc JOIN sequences AS b ON scores.doc_b = b.doc
