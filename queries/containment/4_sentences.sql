-- reads:  units(doc, text) of sentences
-- writes: doc_sentences(doc, words): the distinct sentences of each document, word for word, as hashes of their words; not those
--         without words
CREATE OR REPLACE VIEW doc_sentences AS
SELECT DISTINCT doc, md5(words) AS words
FROM (SELECT doc, array_to_string(words(normalize(text)), ' ') AS words FROM units)
WHERE words <> ''
