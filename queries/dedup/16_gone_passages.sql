-- reads:  stretches(doc, is_whole, char_start, char_end), units(doc, text)
-- writes: gone(doc, characters): how many characters go of each document of which any do
CREATE VIEW gone AS
SELECT cut.doc, CASE WHEN cut.is_whole THEN character_length(units.text) ELSE cut.characters END AS characters
FROM (SELECT doc, is_whole, sum(char_end - char_start) AS characters FROM stretches GROUP BY doc, is_whole) AS cut
JOIN units ON cut.doc = units.doc
