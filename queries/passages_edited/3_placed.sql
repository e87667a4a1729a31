-- reads:  seeds(doc_a, doc_b, seeds), doc_texts(doc, text)
-- writes: placed(doc_a, doc_b, run, unmarked): the passages of each pair of documents, of at least $min_sentences matching
--         sentences, and how many characters they have
CREATE TABLE placed AS
-- The documents are found before their texts.
WITH seeded AS (
    SELECT doc_a AS doc FROM seeds
    UNION
    SELECT doc_b FROM seeds
),
found AS (
    SELECT doc_texts.* FROM doc_texts LEFT SEMI JOIN seeded ON doc_texts.doc = seeded.doc
),
-- A join holds its first input: the texts of documents, not the texts of pairs, which may be many more. The texts of the two
-- documents are joined one after the other.
half AS (
    SELECT seeds.*, found.text AS text_a FROM found JOIN seeds ON found.doc = seeds.doc_a
)
SELECT doc_a, doc_b, run, run['char_a_end'] - run['char_a_start'] AS unmarked
FROM (
    SELECT doc_a, doc_b, unnest(edited_passages(text_a, text_b, seeds, $threshold, $max_gap, $min_characters)) AS run
    FROM (SELECT half.*, found.text AS text_b FROM found JOIN half ON found.doc = half.doc_b)
)
WHERE run['sentences'] >= $min_sentences
