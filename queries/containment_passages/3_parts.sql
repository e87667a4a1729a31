-- reads:  runs(doc_a, doc_b, run)
-- writes: parts(doc, word_start, word_end): what is to be located in each document, once
CREATE VIEW parts AS
SELECT doc_a AS doc, run['word_a_start'] AS word_start, run['word_a_end'] AS word_end FROM runs
UNION
SELECT doc_b, run['word_b_start'], run['word_b_end'] FROM runs
