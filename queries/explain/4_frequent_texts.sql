-- reads:  places(text_id, places, pairs), units(unit, doc, text)
-- writes: the most frequent texts: in how many places they stand, and their share of all pairs of places
WITH frequent AS (
    SELECT *, text_id / 4294967296 AS doc, pairs / nullif(sum(CAST(pairs AS DOUBLE)) OVER (), 0) AS share FROM places
    ORDER BY places DESC, text_id
    LIMIT 10
),
-- A text is named by its first unit. The documents of these units are found before their texts.
examples AS (
    SELECT units.* FROM units LEFT SEMI JOIN frequent ON units.doc = frequent.doc
)
SELECT
    frequent.places,
    round(coalesce(frequent.share, 0), 4) AS share_of_pairs,
    frequent.places > $max_frequency AS over_max_frequency,
    substr(regexp_replace(examples.text, '[[:cntrl:]]+', ' ', 'g'), 1, 60) AS text
FROM frequent JOIN examples ON frequent.text_id = examples.unit
ORDER BY frequent.places DESC, frequent.text_id
