-- reads:  units(unit, side, doc, text)
-- writes: units: those of $min_characters to $max_characters characters; as a table, since it is read more than once
CREATE OR REPLACE TABLE units AS
SELECT * FROM units WHERE character_length(text) BETWEEN $min_characters AND $max_characters
