-- reads:  $reference(text), against_documents(text) if $reference_of_added
-- writes: reference(frequencies): in how many of its texts each word stands; words as units/prepared.sql makes them
CREATE TABLE reference AS
SELECT
    document_frequencies(
        truncate_tokens(without_tokens(words(normalize(text, $language)), $stop_words), $letters)
    ) AS frequencies
FROM (
    SELECT text FROM $reference
    UNION ALL
    SELECT text FROM against_documents WHERE $reference_of_added
)
