-- reads:  located(doc_a, doc_b, run, char_a_start … byte_b_end), excerpts(doc, byte_start, byte_end, text)
-- writes: placed(doc_a, doc_b, run): the runs with where they stand, from the first to the last word that both sides have if
--         $trim, else in whole sentences
CREATE TABLE placed AS
WITH shared AS (
    SELECT
        located.*,
        a.text AS text_a,
        b.text AS text_b,
        CASE
            WHEN $trim THEN shared_words(a.text, 0, octet_length(a.text), b.text, 0, octet_length(b.text))
            ELSE named_struct(
                'byte_a_start', 0, 'byte_a_end', octet_length(a.text), 'byte_b_start', 0, 'byte_b_end', octet_length(b.text)
            )
        END AS shared
    FROM located
    JOIN excerpts AS a
        ON located.doc_a = a.doc AND located.byte_a_start = a.byte_start AND located.byte_a_end = a.byte_end
    JOIN excerpts AS b
        ON located.doc_b = b.doc AND located.byte_b_start = b.byte_start AND located.byte_b_end = b.byte_end
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
FROM shared
