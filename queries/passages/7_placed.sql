-- reads:  runs(doc_a, doc_b, run), places(doc, word_start, word_end, char_start … sent_end)
-- writes: placed(doc_a, doc_b, run, unmarked): the passages of at least $min_sentences sentences with where they stand, and how
--         many words they share outside of common text
CREATE TABLE placed AS
SELECT
    runs.doc_a,
    runs.doc_b,
    named_struct(
        'sent_a_start', a.sent_start,
        'sent_a_end', a.sent_end,
        'sent_b_start', b.sent_start,
        'sent_b_end', b.sent_end,
        'char_a_start', a.char_start,
        'char_a_end', a.char_end,
        'char_b_start', b.char_start,
        'char_b_end', b.char_end,
        'byte_a_start', a.byte_start,
        'byte_a_end', a.byte_end,
        'byte_b_start', b.byte_start,
        'byte_b_end', b.byte_end,
        'sentences', least(a.sent_end - a.sent_start, b.sent_end - b.sent_start),
        'gaps', greatest(a.word_end - a.word_start, b.word_end - b.word_start) - runs.run['shared'],
        'similarity', runs.run['similarity']
    ) AS run,
    runs.run['unmarked'] AS unmarked
FROM runs
JOIN places AS a
    ON runs.doc_a = a.doc AND runs.run['word_a_start'] = a.word_start AND runs.run['word_a_end'] = a.word_end
JOIN places AS b
    ON runs.doc_b = b.doc AND runs.run['word_b_start'] = b.word_start AND runs.run['word_b_end'] = b.word_end
WHERE least(a.sent_end - a.sent_start, b.sent_end - b.sent_start) >= $min_sentences
