-- reads:  slices(family, doc, word_start, word_end, offset, words, rank)
-- writes: members(family, doc, word_start, word_end, representative, offset, offset_of_representative, part): each run beside
--         the representative of its family, the first
CREATE TABLE members AS
SELECT
    own.family,
    own.doc,
    own.word_start,
    own.word_end,
    own.rank = 1 AS representative,
    own.offset,
    other.offset AS offset_of_representative,
    shared_part(own.words, other.words) AS part
FROM slices AS own JOIN slices AS other ON own.family = other.family AND other.rank = 1
