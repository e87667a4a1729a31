-- reads:  units(unit, side, doc, text)
-- writes: repeated(unit, words, runs): the documents of which words go, how many they have, and which go: those of runs of $min_words words
--         that stand in what stays before them
CREATE TABLE repeated AS
SELECT unit, words, runs
FROM (
    -- Five bytes are a word, and ten digits of them.
    SELECT
        unit,
        character_length(encode(sequence, 'hex')) / 10 AS words,
        repeated_runs(unit, sequence, $min_words) OVER (ORDER BY unit) AS runs
    FROM (SELECT unit, arrow_cast(word_sequence(text), 'LargeBinary') AS sequence FROM units)
)
WHERE cardinality(runs) > 0
