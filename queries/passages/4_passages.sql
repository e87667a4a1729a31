-- reads:  runs(doc_a, doc_b, run), docs(doc, doc_id), spans(doc, sent, char_start, char_end, byte_start, byte_end)
-- writes: passages(doc_a, doc_b, sent_a_start … byte_b_end, sentences, gaps, similarity): the located duplicates
SELECT
    a.doc_id AS doc_a,
    b.doc_id AS doc_b,
    runs.run['sent_a_start'] AS sent_a_start,
    runs.run['sent_a_end'] AS sent_a_end,
    runs.run['sent_b_start'] AS sent_b_start,
    runs.run['sent_b_end'] AS sent_b_end,
    first_a.char_start AS char_a_start,
    last_a.char_end AS char_a_end,
    first_b.char_start AS char_b_start,
    last_b.char_end AS char_b_end,
    first_a.byte_start AS byte_a_start,
    last_a.byte_end AS byte_a_end,
    first_b.byte_start AS byte_b_start,
    last_b.byte_end AS byte_b_end,
    runs.run['sentences'] AS sentences,
    runs.run['gaps'] AS gaps,
    runs.run['similarity'] AS similarity
FROM runs
JOIN docs AS a ON runs.doc_a = a.doc
JOIN docs AS b ON runs.doc_b = b.doc
JOIN spans AS first_a ON runs.doc_a = first_a.doc AND runs.run['sent_a_start'] = first_a.sent
JOIN spans AS last_a ON runs.doc_a = last_a.doc AND runs.run['sent_a_end'] - 1 = last_a.sent
JOIN spans AS first_b ON runs.doc_b = first_b.doc AND runs.run['sent_b_start'] = first_b.sent
JOIN spans AS last_b ON runs.doc_b = last_b.doc AND runs.run['sent_b_end'] - 1 = last_b.sent
ORDER BY a.doc, b.doc, sent_a_start, sent_b_start
