-- reads:  units(unit, side, doc, text)
-- writes: units: each text as its words, in the lower case of $language, without $stop_words, each cut to $letters letters
CREATE OR REPLACE VIEW units AS
SELECT
    unit,
    side,
    doc,
    array_to_string(
        truncate_tokens(without_tokens(words(normalize(text, $language)), $stop_words), $letters), ' '
    ) AS text
FROM units
