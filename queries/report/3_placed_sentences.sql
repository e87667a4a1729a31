-- reads:  found(…), sided_sentences(side, doc_id, sent, char_start, char_end)
-- writes: placed(…): the same, with the characters of the sentences; those of b are of collection $side_b
CREATE VIEW placed AS
SELECT
    found.* EXCEPT (char_a_start, char_a_end, char_b_start, char_b_end),
    a.char_start AS char_a_start,
    a.char_end AS char_a_end,
    b.char_start AS char_b_start,
    b.char_end AS char_b_end
FROM found
JOIN sided_sentences AS a ON a.side = 0 AND found.doc_a = a.doc_id AND found.sent_a_start = a.sent
JOIN sided_sentences AS b ON b.side = $side_b AND found.doc_b = b.doc_id AND found.sent_b_start = b.sent
