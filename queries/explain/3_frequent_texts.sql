-- reads:  texts(text_id, units), text_pairs(text_id, pairs), units(unit, text)
-- writes: the most frequent texts: in how many places they stand, and their share of all pairs of places
SELECT
    texts.units * $every AS places,
    round(coalesce(text_pairs.pairs, 0) / sum(CAST(text_pairs.pairs AS DOUBLE)) OVER (), 4) AS share_of_pairs,
    texts.units > $max_frequency AS over_max_frequency,
    replace(substr(units.text, 1, 60), chr(10), ' ') AS text
FROM texts
LEFT JOIN text_pairs ON texts.text_id = text_pairs.text_id
JOIN units ON texts.text_id = units.unit
ORDER BY texts.units DESC, texts.text_id
LIMIT 10
