-- reads:  family_places(doc, word_start, word_end)
-- writes: parts(doc, word_start, word_end): what is to be located in each document, once; passages are
CREATE VIEW parts AS
SELECT DISTINCT doc, word_start, word_end FROM family_places
