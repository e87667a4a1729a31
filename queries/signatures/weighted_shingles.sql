-- reads:  units(unit, side, doc, text)
-- writes: signatures(unit, side, doc, set): the runs of $n words, each with a weight from 1 to $levels, by its rarity
CREATE OR REPLACE TABLE signatures AS
WITH sets AS (
    SELECT unit, side, doc, shingles(words(normalize(text)), $n) AS set FROM units
)
SELECT unit, side, doc, weighted(set, (SELECT set_frequencies(set) FROM sets), $levels) AS set FROM sets
