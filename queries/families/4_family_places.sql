-- reads:  stretches(family, doc, side, representative, similarity, word_start, word_end, stretch, stretch_words)
-- writes: family_places(family, doc, documents, representative, similarity, word_start, word_end): where each family stands: in two
--         documents of different sides, $against, or one of which is new, $add, and not everywhere with most of its words in one
--         and the same longer one
CREATE TABLE family_places AS
WITH sizes AS (
    SELECT family, count(DISTINCT doc) AS documents, count(*) AS places, max(side) AS newest
    FROM stretches
    GROUP BY family
    HAVING (count(DISTINCT doc) > 1 OR ($within_documents AND count(*) > 1))
        AND max(stretch_words) >= $min_words
        AND (NOT $against OR (min(side) = 0 AND max(side) = 1))
),
sized AS (
    SELECT stretches.*, sizes.documents, sizes.places, sizes.newest FROM stretches JOIN sizes ON stretches.family = sizes.family
),
-- The places that are not alone in their stretch, each with the longest place of the stretch.
beside AS (
    SELECT
        *,
        first_value(family) OVER longest AS longest,
        first_value(word_start) OVER longest AS longest_start,
        first_value(word_end) OVER longest AS longest_end
    FROM sized
    LEFT SEMI JOIN (SELECT doc, stretch FROM sized GROUP BY doc, stretch HAVING count(*) > 1) AS crowded
        ON sized.doc = crowded.doc AND sized.stretch = crowded.stretch
    WINDOW longest AS (PARTITION BY doc, stretch ORDER BY word_end - word_start DESC, family, word_start)
),
-- Families that have the same longer family beside them in all places, and most of their words in it, become part of it.
parts AS (
    SELECT family
    FROM beside
    GROUP BY family
    HAVING count(*) = max(places)
        AND min(longest) = max(longest)
        AND min(longest) <> family
        AND 2 * sum(greatest(least(word_end, longest_end) - greatest(word_start, longest_start), 0)) > sum(word_end - word_start)
),
widened AS (
    SELECT beside.doc, longest, longest_start, longest_end, min(word_start) AS first_word, max(word_end) AS last_word
    FROM beside LEFT SEMI JOIN parts ON beside.family = parts.family
    GROUP BY beside.doc, longest, longest_start, longest_end
)
SELECT
    whole.family,
    whole.doc,
    whole.documents,
    whole.representative,
    whole.similarity,
    least(whole.word_start, widened.first_word) AS word_start,
    greatest(whole.word_end, widened.last_word) AS word_end
FROM (SELECT sized.* FROM sized LEFT ANTI JOIN parts ON sized.family = parts.family) AS whole
LEFT JOIN widened
    ON whole.doc = widened.doc
    AND whole.family = widened.longest
    AND whole.word_start = widened.longest_start
    AND whole.word_end = widened.longest_end
-- This filter comes last, because the longer family beside another one may have no new document.
WHERE NOT $add OR whole.newest = 1
