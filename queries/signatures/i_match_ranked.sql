-- reads:  units(unit, side, doc, text)
-- writes: signatures(unit, side, doc, set): one hash of the $take rarest words after the first $skip
CREATE OR REPLACE TABLE signatures AS
SELECT
    unit,
    side,
    doc,
    i_match_ranked(
        words(normalize(text)), (SELECT document_frequencies(words(normalize(text))) FROM units), $skip, $take
    ) AS set
FROM units
