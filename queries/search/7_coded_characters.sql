-- reads:  signatures(unit, side, doc, set), units(unit, text), $codes(word, code)
-- writes: coded(unit, side, doc, set, code): the code of each text, by the codes of its characters
CREATE TABLE coded AS
SELECT
    signatures.unit,
    signatures.side,
    signatures.doc,
    signatures.set,
    bit_code(characters(normalize(units.text)), (SELECT codebook(word, code) FROM $codes)) AS code
FROM signatures JOIN units ON signatures.unit = units.unit
