-- reads:  text_pairs(text_id, units, pairs), occurrences(text_id, doc), units(unit, text)
-- writes: capped(text, df, units, pairs_not_made, example): what the limit on frequent texts left out
CREATE TABLE capped AS
WITH frequent AS (
    SELECT * FROM text_pairs WHERE units > $max_frequency
),
spread AS (
    SELECT occurrences.text_id, count(DISTINCT occurrences.doc) AS df
    FROM occurrences JOIN frequent ON occurrences.text_id = frequent.text_id
    GROUP BY occurrences.text_id
)
SELECT units.text, spread.df, frequent.units, frequent.pairs AS pairs_not_made, docs.doc_id AS example
FROM frequent
JOIN spread ON frequent.text_id = spread.text_id
JOIN units ON frequent.text_id = units.unit
JOIN docs ON units.doc = docs.doc
ORDER BY pairs_not_made DESC, frequent.text_id
