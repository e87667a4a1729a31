-- reads:  sequences(doc, words), family_places(doc, word_start, word_end)
-- writes: marked(doc, words): the words of each document, those marked that lie in a family
CREATE TABLE marked AS
SELECT sequences.doc, coalesce(mark_words(sequences.words, families.parts), sequences.words) AS words
FROM (
    SELECT doc, array_agg(named_struct('word_start', word_start, 'word_end', word_end)) AS parts FROM family_places GROUP BY doc
) AS families
RIGHT JOIN sequences ON families.doc = sequences.doc
