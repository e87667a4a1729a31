-- reads:  located(doc_a, doc_b, run, char_a_start … byte_b_end), doc_texts(doc, text)
-- writes: placed(doc_a, doc_b, run): the runs with where they stand, from the first to the last word that both sides have if
--         $trim, else in whole sentences
CREATE TABLE placed AS
WITH found AS (
    SELECT doc_texts.*
    FROM doc_texts
    LEFT SEMI JOIN (SELECT doc_a AS doc FROM located UNION SELECT doc_b AS doc FROM located) AS ends ON doc_texts.doc = ends.doc
),
trimmed AS (
    SELECT
        located.*,
        a.text AS text_a,
        b.text AS text_b,
        CASE
            WHEN $trim THEN shared_words(a.text, byte_a_start, byte_a_end, b.text, byte_b_start, byte_b_end)
            ELSE named_struct(
                'byte_a_start', byte_a_start, 'byte_a_end', byte_a_end,
                'byte_b_start', byte_b_start, 'byte_b_end', byte_b_end
            )
        END AS shared
    FROM located
    JOIN found AS a ON located.doc_a = a.doc
    JOIN found AS b ON located.doc_b = b.doc
)
SELECT
    doc_a,
    doc_b,
    named_struct(
        'sent_a_start', run['sent_a_start'],
        'sent_a_end', run['sent_a_end'],
        'sent_b_start', run['sent_b_start'],
        'sent_b_end', run['sent_b_end'],
        'char_a_start', char_a_start + count_characters(text_a, byte_a_start, shared['byte_a_start']),
        'char_a_end', char_a_end - count_characters(text_a, shared['byte_a_end'], byte_a_end),
        'char_b_start', char_b_start + count_characters(text_b, byte_b_start, shared['byte_b_start']),
        'char_b_end', char_b_end - count_characters(text_b, shared['byte_b_end'], byte_b_end),
        'byte_a_start', shared['byte_a_start'],
        'byte_a_end', shared['byte_a_end'],
        'byte_b_start', shared['byte_b_start'],
        'byte_b_end', shared['byte_b_end'],
        'sentences', run['sentences'],
        'gaps', run['gaps'],
        'similarity', run['similarity']
    ) AS run
FROM trimmed
