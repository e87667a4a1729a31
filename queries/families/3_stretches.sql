-- reads:  members(family, doc, word_start, word_end, representative, offset, offset_of_representative, part), docs(doc, side)
-- writes: stretches(family, doc, side, representative, similarity, word_start, word_end, stretch, stretch_words): where each family
--         may stand: a run with what it shares beyond that with the representative, and this with what it shares with most others.
--         Places with at most $bridge words between them make a stretch of common text, which has at least $min_words words
CREATE TABLE stretches AS
WITH own AS (
    SELECT
        family,
        CAST(median(offset_of_representative + part['word_b_start']) AS INT) AS word_start,
        CAST(median(offset_of_representative + part['word_b_end']) AS INT) AS word_end
    FROM members
    WHERE NOT representative
    GROUP BY family
),
placed AS (
    SELECT
        members.family,
        members.doc,
        members.representative,
        CASE WHEN members.representative THEN 1.0 ELSE members.part['similarity'] END AS similarity,
        least(
            members.word_start,
            CASE WHEN members.representative THEN own.word_start ELSE members.offset + members.part['word_a_start'] END
        ) AS word_start,
        greatest(
            members.word_end,
            CASE WHEN members.representative THEN own.word_end ELSE members.offset + members.part['word_a_end'] END
        ) AS word_end
    FROM members JOIN own ON members.family = own.family
),
begun AS (
    SELECT
        *,
        coalesce(
            word_start > $bridge + max(word_end) OVER (
                PARTITION BY doc ORDER BY word_start, word_end, family ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ),
            true
        ) AS begins
    FROM placed
),
numbered AS (
    SELECT
        *,
        sum(CASE WHEN begins THEN 1 ELSE 0 END) OVER (PARTITION BY doc ORDER BY word_start, word_end, family) AS stretch
    FROM begun
),
measured AS (
    SELECT
        *,
        max(word_end) OVER (PARTITION BY doc, stretch) - min(word_start) OVER (PARTITION BY doc, stretch) AS stretch_words
    FROM numbered
)
SELECT measured.*, docs.side
FROM measured JOIN docs ON measured.doc = docs.doc
WHERE measured.stretch_words >= $min_words OR measured.representative
