-- reads:  places(text_id, places, pairs), units(unit, text)
-- writes: the most frequent texts: in how many places they stand, and their share of all pairs of places
WITH frequent AS (
    SELECT *, pairs / nullif(sum(CAST(pairs AS DOUBLE)) OVER (), 0) AS share FROM places
    ORDER BY places DESC, text_id
    LIMIT 10
)
SELECT
    frequent.places,
    round(coalesce(frequent.share, 0), 4) AS share_of_pairs,
    frequent.places > $max_frequency AS over_max_frequency,
    substr(regexp_replace(units.text, '[[:cntrl:]]+', ' ', 'g'), 1, 60) AS text
FROM frequent JOIN units ON frequent.text_id = units.unit
ORDER BY frequent.places DESC, frequent.text_id
