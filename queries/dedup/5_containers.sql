-- reads:  contained_texts(text_a, text_b, score, score_back)
-- writes: stand_ins(member, other, share, share_back): what can stand for a text, here what contains it
CREATE VIEW stand_ins AS
SELECT text_a AS member, text_b AS other, score AS share, score_back AS share_back FROM contained_texts WHERE text_a <> text_b
