-- reads:  runs(doc_a, doc_b, run), excerpts(doc, sent_start, sent_end, char_start, char_end, byte_start, byte_end, text)
-- writes: placed(doc_a, doc_b, run): the runs with where they stand, from the first to the last word that both sides have if
--         $trim, else in whole sentences
CREATE TABLE placed AS
WITH compared AS (
    SELECT
        runs.*,
        a.char_start AS char_a_start,
        a.byte_start AS byte_a_start,
        a.text AS text_a,
        b.char_start AS char_b_start,
        b.byte_start AS byte_b_start,
        b.text AS text_b,
        CASE
            WHEN $trim THEN shared_words(a.text, 0, octet_length(a.text), b.text, 0, octet_length(b.text))
            ELSE named_struct(
                'byte_a_start', 0, 'byte_a_end', octet_length(a.text), 'byte_b_start', 0, 'byte_b_end', octet_length(b.text)
            )
        END AS shared
    FROM runs
    JOIN excerpts AS a
        ON runs.doc_a = a.doc AND runs.run['sent_a_start'] = a.sent_start AND runs.run['sent_a_end'] = a.sent_end
    JOIN excerpts AS b
        ON runs.doc_b = b.doc AND runs.run['sent_b_start'] = b.sent_start AND runs.run['sent_b_end'] = b.sent_end
)
SELECT
    doc_a,
    doc_b,
    named_struct(
        'sent_a_start', run['sent_a_start'],
        'sent_a_end', run['sent_a_end'],
        'sent_b_start', run['sent_b_start'],
        'sent_b_end', run['sent_b_end'],
        'char_a_start', char_a_start + count_characters(text_a, 0, shared['byte_a_start']),
        'char_a_end', char_a_start + count_characters(text_a, 0, shared['byte_a_end']),
        'char_b_start', char_b_start + count_characters(text_b, 0, shared['byte_b_start']),
        'char_b_end', char_b_start + count_characters(text_b, 0, shared['byte_b_end']),
        'byte_a_start', byte_a_start + shared['byte_a_start'],
        'byte_a_end', byte_a_start + shared['byte_a_end'],
        'byte_b_start', byte_b_start + shared['byte_b_start'],
        'byte_b_end', byte_b_start + shared['byte_b_end'],
        'sentences', run['sentences'],
        'gaps', run['gaps'],
        'similarity', run['similarity']
    ) AS run
FROM compared
