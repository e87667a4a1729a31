-- reads:  units(unit, side, doc, text)
-- writes: units: those of $min_characters to $max_characters characters
CREATE OR REPLACE VIEW units AS
SELECT * FROM units WHERE character_length(text) BETWEEN $min_characters AND $max_characters
