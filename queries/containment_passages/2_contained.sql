-- reads:  contained_texts(text_a, text_b)
-- writes: alike(text_a, text_b): which sentences are in which: those of which the share asked for is
CREATE VIEW alike AS
SELECT text_a, text_b FROM contained_texts
