-- reads:  units(unit, side, doc, text)
-- writes: signatures(unit, side, doc, set): chains of $chain words, $distance apart, after the $k most frequent words
CREATE OR REPLACE TABLE signatures AS
SELECT
    unit,
    side,
    doc,
    spot_sigs(
        words(normalize(text)), (SELECT frequent_tokens(words(normalize(text)), $k) FROM units), $distance, $chain
    ) AS set
FROM units
