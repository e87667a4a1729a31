-- reads:  runs(doc, word_start, word_end, kept_doc, kept_word_start, kept_word_end)
-- writes: parts(doc, word_start, word_end): the words that go, and those that stay for them
CREATE VIEW parts AS
SELECT doc, word_start, word_end FROM runs
UNION
SELECT kept_doc, kept_word_start, kept_word_end FROM runs
