-- reads:  common_runs(doc, family, word_start, word_end, fingerprints), sequences(doc, words)
-- writes: slices(family, doc, word_start, word_end, offset, words, rank): the words of each run, from offset on, with what a sample of
--         fingerprints may have missed at its ends. In its family the one with the most fingerprints is the first, of equal ones
--         the shortest, then the first
CREATE TABLE slices AS
SELECT
    runs.family,
    runs.doc,
    runs.word_start,
    runs.word_end,
    greatest(runs.word_start - $margin, 0) AS offset,
    slice_words(sequences.words, runs.word_start - $margin, runs.word_end + $margin) AS words,
    runs.rank
FROM (
    SELECT
        *,
        row_number() OVER (PARTITION BY family ORDER BY fingerprints DESC, word_end - word_start, doc, word_start) AS rank
    FROM common_runs
) AS runs
JOIN sequences ON runs.doc = sequences.doc
