-- reads:  contained_texts(text_a, text_b, score, score_back), occurrences(text_id, doc, side)
-- writes: scores(doc_a, doc_b, score, score_back): the share of a document that is in another, and of that in it
CREATE TABLE scores AS
SELECT a.doc AS doc_a, b.doc AS doc_b, contained_texts.score, contained_texts.score_back
FROM contained_texts
JOIN occurrences AS a ON contained_texts.text_a = a.text_id
JOIN occurrences AS b ON contained_texts.text_b = b.text_id
WHERE a.doc <> b.doc AND (NOT $against OR a.side < b.side) AND (NOT $add OR a.side = 1 OR b.side = 1)
