-- reads:  runs(doc_a, doc_b, run), spans(doc, sent, char_start, char_end, byte_start, byte_end)
-- writes: places(doc, sent_start, sent_end, char_start, char_end, byte_start, byte_end): where the sentences of each run begin and
--         end in each of its two documents, once
CREATE TABLE places AS
WITH ranges AS (
    SELECT doc_a AS doc, run['sent_a_start'] AS sent_start, run['sent_a_end'] AS sent_end FROM runs
    UNION
    SELECT doc_b, run['sent_b_start'], run['sent_b_end'] FROM runs
)
SELECT ranges.*, first.char_start, last.char_end, first.byte_start, last.byte_end
FROM ranges
JOIN spans AS first ON ranges.doc = first.doc AND ranges.sent_start = first.sent
JOIN spans AS last ON ranges.doc = last.doc AND ranges.sent_end - 1 = last.sent
