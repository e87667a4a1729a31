-- reads:  members(family, doc, word_start, word_end, representative, offset, offset_of_representative, part), docs(doc, side)
-- writes: stretches(family, doc, side, representative, similarity, word_start, word_end, stretch, stretch_words): where each family
--         may stand: a run with what it shares beyond that with the representative, and this with what it shares with most others.
--         Places with at most $bridge words between them make a stretch of common text, which has at least $min_words words
CREATE TABLE stretches AS
-- The medians are found by sorting: an aggregate would hold all places of a family.
WITH counted AS (
    SELECT family, count(part) AS places FROM members WHERE NOT representative GROUP BY family
),
ranked AS (
    SELECT
        *,
        row_number() OVER (PARTITION BY family ORDER BY word_start) AS start_rank,
        row_number() OVER (PARTITION BY family ORDER BY word_end) AS end_rank
    FROM (
        SELECT
            family,
            offset_of_representative + part['word_b_start'] AS word_start,
            offset_of_representative + part['word_b_end'] AS word_end
        FROM members
        WHERE NOT representative
    )
),
middle AS (
    SELECT
        ranked.family,
        CASE WHEN start_rank IN ((places + 1) / 2, places / 2 + 1) THEN word_start END AS word_start,
        CASE WHEN end_rank IN ((places + 1) / 2, places / 2 + 1) THEN word_end END AS word_end
    FROM ranked JOIN counted ON ranked.family = counted.family
),
own AS (
    SELECT
        family,
        CAST((min(word_start) + max(word_start)) / 2 AS INT) AS word_start,
        CAST((min(word_end) + max(word_end)) / 2 AS INT) AS word_end
    FROM middle
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
-- This uses GROUP BY, because a window would hold all rows.
measured AS (
    SELECT doc, stretch, max(word_end) - min(word_start) AS stretch_words FROM numbered GROUP BY doc, stretch
)
SELECT numbered.*, measured.stretch_words, docs.side
FROM numbered
JOIN measured ON numbered.doc = measured.doc AND numbered.stretch = measured.stretch
JOIN docs ON numbered.doc = docs.doc
WHERE measured.stretch_words >= $min_words OR numbered.representative
