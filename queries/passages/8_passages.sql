-- reads:  placed(doc_a, doc_b, run), docs(doc, doc_id)
-- writes: passages(doc_a, doc_b, sent_a_start … byte_b_end, sentences, gaps, similarity): the located duplicates
SELECT
    a.doc_id AS doc_a,
    b.doc_id AS doc_b,
    placed.run['sent_a_start'] AS sent_a_start,
    placed.run['sent_a_end'] AS sent_a_end,
    placed.run['sent_b_start'] AS sent_b_start,
    placed.run['sent_b_end'] AS sent_b_end,
    placed.run['char_a_start'] AS char_a_start,
    placed.run['char_a_end'] AS char_a_end,
    placed.run['char_b_start'] AS char_b_start,
    placed.run['char_b_end'] AS char_b_end,
    placed.run['byte_a_start'] AS byte_a_start,
    placed.run['byte_a_end'] AS byte_a_end,
    placed.run['byte_b_start'] AS byte_b_start,
    placed.run['byte_b_end'] AS byte_b_end,
    placed.run['sentences'] AS sentences,
    placed.run['gaps'] AS gaps,
    placed.run['similarity'] AS similarity
FROM placed JOIN docs AS a ON placed.doc_a = a.doc JOIN docs AS b ON placed.doc_b = b.doc
ORDER BY a.doc, b.doc, byte_a_start, byte_b_start, byte_a_end, byte_b_end
