-- reads:  common_runs(doc, family, word_start, word_end, fingerprints), sequences(doc, words)
-- writes: members(family, doc, word_start, word_end, representative, offset, offset_of_representative, part): each run beside
--         the representative of its family, the run with the most fingerprints, of equal ones the shortest, then the first; both
--         with what a sample of fingerprints may have missed at their ends
CREATE TABLE members AS
WITH ranked AS (
    SELECT
        *,
        row_number() OVER (PARTITION BY family ORDER BY fingerprints DESC, word_end - word_start, doc, word_start) AS rank
    FROM common_runs
)
SELECT
    own.family,
    own.doc,
    own.word_start,
    own.word_end,
    own.doc = other.doc AND own.word_start = other.word_start AS representative,
    greatest(own.word_start - $margin, 0) AS offset,
    greatest(other.word_start - $margin, 0) AS offset_of_representative,
    shared_part(
        slice_words(own_words.words, own.word_start - $margin, own.word_end + $margin),
        slice_words(other_words.words, other.word_start - $margin, other.word_end + $margin)
    ) AS part
FROM common_runs AS own
JOIN ranked AS other ON own.family = other.family AND other.rank = 1
JOIN sequences AS own_words ON own.doc = own_words.doc
JOIN sequences AS other_words ON other.doc = other_words.doc
