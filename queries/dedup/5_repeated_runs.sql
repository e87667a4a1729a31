-- reads:  repeated(doc, words, runs)
-- writes: runs(doc, word_start, word_end, kept_doc, kept_word_start, kept_word_end, words_before, is_whole): the words that go, the same
--         words that stay for them, how many of their document stay before them, and if all of it goes
CREATE TABLE runs AS
SELECT
    *,
    word_end - sum(word_end - word_start) OVER (PARTITION BY doc ORDER BY word_start) AS words_before,
    sum(word_end - word_start) OVER (PARTITION BY doc) = words AS is_whole
FROM (
    SELECT
        doc,
        words,
        run['word_start'] AS word_start,
        run['word_end'] AS word_end,
        run['kept_id'] AS kept_doc,
        run['kept_word_start'] AS kept_word_start,
        run['kept_word_start'] + run['word_end'] - run['word_start'] AS kept_word_end
    FROM (SELECT doc, words, unnest(runs) AS run FROM repeated)
)
