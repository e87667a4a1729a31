-- reads:  placed(…)
-- writes: matches(key, …, characters): the same, with a key that stays the same for the same places, and the length of the longer place
CREATE TABLE matches AS
SELECT
    substr(md5(concat_ws(chr(31), doc_a, char_a_start, char_a_end, doc_b, char_b_start, char_b_end)), 1, 16) AS key,
    greatest(char_a_end - char_a_start, char_b_end - char_b_start) AS characters,
    *
FROM placed
