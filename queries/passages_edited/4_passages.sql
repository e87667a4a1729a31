-- reads:  runs(doc_a, doc_b, run), docs(doc, doc_id)
-- writes: passages(doc_a, doc_b, sent_a_start … byte_b_end, sentences, gaps, similarity): the located duplicates of at
--         least $min_sentences matching sentences
SELECT
    a.doc_id AS doc_a,
    b.doc_id AS doc_b,
    runs.run['sent_a_start'] AS sent_a_start,
    runs.run['sent_a_end'] AS sent_a_end,
    runs.run['sent_b_start'] AS sent_b_start,
    runs.run['sent_b_end'] AS sent_b_end,
    runs.run['char_a_start'] AS char_a_start,
    runs.run['char_a_end'] AS char_a_end,
    runs.run['char_b_start'] AS char_b_start,
    runs.run['char_b_end'] AS char_b_end,
    runs.run['byte_a_start'] AS byte_a_start,
    runs.run['byte_a_end'] AS byte_a_end,
    runs.run['byte_b_start'] AS byte_b_start,
    runs.run['byte_b_end'] AS byte_b_end,
    runs.run['sentences'] AS sentences,
    runs.run['gaps'] AS gaps,
    runs.run['similarity'] AS similarity
FROM runs JOIN docs AS a ON runs.doc_a = a.doc JOIN docs AS b ON runs.doc_b = b.doc
WHERE runs.run['sentences'] >= $min_sentences
ORDER BY a.doc, b.doc, sent_a_start, sent_b_start, sent_a_end, sent_b_end
