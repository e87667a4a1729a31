-- reads:  units(unit, side, doc, text)
-- writes: repeated(doc, words, runs): the documents of which words go, how many they have, and which go: those of runs of $min_words words
--         that stand in what stays before them
CREATE TABLE repeated AS
SELECT doc, words, runs
FROM (
    -- A word takes five bytes, which are ten hexadecimal digits.
    SELECT
        doc,
        character_length(encode(sequence, 'hex')) / 10 AS words,
        repeated_runs(doc, sequence, $min_words) OVER (ORDER BY unit) AS runs
    FROM (SELECT unit, doc, arrow_cast(word_sequence(text), 'LargeBinary') AS sequence FROM units)
)
WHERE cardinality(runs) > 0
