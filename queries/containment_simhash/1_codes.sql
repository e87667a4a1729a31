-- reads:  units(unit, side, doc, text), reference(frequencies)
-- writes: codes(side, doc, code): the SimHash of each document, without its $skip rarest words
CREATE TABLE codes AS
SELECT
    side,
    doc,
    simhash(
        shingles(without_rarest(words(normalize(text)), (SELECT frequencies FROM reference), $skip), 1),
        (SELECT frequencies FROM reference)
    ) AS code
FROM units
