-- reads:  located(doc_a, doc_b, run, char_a_start … byte_b_end), docs(doc, doc_id), doc_texts(doc, text)
-- writes: passages(doc_a, doc_b, sent_a_start … byte_b_end, sentences, gaps, similarity): the located duplicates, from
--         the first to the last word that both sides have if $trim, else in whole sentences
-- Texts come last, and go before documents are named: each join copies what it knows of a row.
WITH trimmed AS (
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
    JOIN doc_texts AS a ON located.doc_a = a.doc
    JOIN doc_texts AS b ON located.doc_b = b.doc
),
placed AS (
    SELECT
        doc_a,
        doc_b,
        run,
        shared,
        char_a_start + count_characters(text_a, byte_a_start, shared['byte_a_start']) AS char_a_start,
        char_a_end - count_characters(text_a, shared['byte_a_end'], byte_a_end) AS char_a_end,
        char_b_start + count_characters(text_b, byte_b_start, shared['byte_b_start']) AS char_b_start,
        char_b_end - count_characters(text_b, shared['byte_b_end'], byte_b_end) AS char_b_end
    FROM trimmed
)
SELECT
    a.doc_id AS doc_a,
    b.doc_id AS doc_b,
    placed.run['sent_a_start'] AS sent_a_start,
    placed.run['sent_a_end'] AS sent_a_end,
    placed.run['sent_b_start'] AS sent_b_start,
    placed.run['sent_b_end'] AS sent_b_end,
    placed.char_a_start,
    placed.char_a_end,
    placed.char_b_start,
    placed.char_b_end,
    shared['byte_a_start'] AS byte_a_start,
    shared['byte_a_end'] AS byte_a_end,
    shared['byte_b_start'] AS byte_b_start,
    shared['byte_b_end'] AS byte_b_end,
    placed.run['sentences'] AS sentences,
    placed.run['gaps'] AS gaps,
    placed.run['similarity'] AS similarity
FROM placed
JOIN docs AS a ON placed.doc_a = a.doc
JOIN docs AS b ON placed.doc_b = b.doc
ORDER BY a.doc, b.doc, sent_a_start, sent_b_start, sent_a_end, sent_b_end
