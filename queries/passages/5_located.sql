-- reads:  runs(doc_a, doc_b, run), spans(doc, sent, char_start, char_end, byte_start, byte_end)
-- writes: located(doc_a, doc_b, run, char_a_start … byte_b_end): where the sentences of each run begin and end
CREATE TABLE located AS
SELECT
    runs.doc_a,
    runs.doc_b,
    runs.run,
    first_a.char_start AS char_a_start,
    last_a.char_end AS char_a_end,
    first_b.char_start AS char_b_start,
    last_b.char_end AS char_b_end,
    first_a.byte_start AS byte_a_start,
    last_a.byte_end AS byte_a_end,
    first_b.byte_start AS byte_b_start,
    last_b.byte_end AS byte_b_end
FROM runs
JOIN spans AS first_a ON runs.doc_a = first_a.doc AND runs.run['sent_a_start'] = first_a.sent
JOIN spans AS last_a ON runs.doc_a = last_a.doc AND runs.run['sent_a_end'] - 1 = last_a.sent
JOIN spans AS first_b ON runs.doc_b = first_b.doc AND runs.run['sent_b_start'] = first_b.sent
JOIN spans AS last_b ON runs.doc_b = last_b.doc AND runs.run['sent_b_end'] - 1 = last_b.sent
