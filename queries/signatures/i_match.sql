-- reads:  units(unit, side, doc, text)
-- writes: signatures(unit, side, doc, set): one hash of the words with a normalised idf from $low to $high
CREATE OR REPLACE TABLE signatures AS
SELECT
    unit,
    side,
    doc,
    i_match(words(normalize(text)), (SELECT document_frequencies(words(normalize(text))) FROM units), $low, $high) AS set
FROM units
