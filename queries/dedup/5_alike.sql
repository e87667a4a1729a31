-- reads:  links(text_a, text_b, similarity)
-- writes: stand_ins(member, other, share, share_back): what can stand for a text, here what is as similar
CREATE VIEW stand_ins AS
SELECT text_a AS member, text_b AS other, similarity AS share, similarity AS share_back FROM links
UNION ALL
SELECT text_b AS member, text_a AS other, similarity AS share, similarity AS share_back FROM links
