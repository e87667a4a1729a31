-- reads:  runs(doc, word_start, word_end, words_before, is_whole), passages(doc, word_start, word_end, position, char_start, char_end,
--         byte_start, byte_end)
-- writes: stretches(doc, position, is_whole, char_start, char_end, byte_start, byte_end): what is cut out in one piece: passages that go
--         and follow one another
CREATE TABLE stretches AS
SELECT
    passages.doc,
    passages.position,
    runs.is_whole,
    min(passages.char_start) AS char_start,
    max(passages.char_end) AS char_end,
    min(passages.byte_start) AS byte_start,
    max(passages.byte_end) AS byte_end
FROM runs
JOIN passages
    ON runs.doc = passages.doc AND runs.word_start = passages.word_start AND runs.word_end = passages.word_end
GROUP BY passages.doc, passages.position, runs.is_whole, runs.words_before
