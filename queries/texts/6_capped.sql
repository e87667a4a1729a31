-- reads:  text_pairs(text_id, units, pairs), occurrences(text_id, doc), units(unit, doc, text), docs(doc, doc_id)
-- writes: capped(text, df, units, pairs_not_made, example): what the limit on frequent texts left out
CREATE TABLE capped AS
WITH frequent AS (
    SELECT *, text_id / 4294967296 AS doc FROM text_pairs WHERE units > $max_frequency
),
spread AS (
    SELECT occurrences.text_id, count(DISTINCT occurrences.doc) AS df
    FROM occurrences JOIN frequent ON occurrences.text_id = frequent.text_id
    GROUP BY occurrences.text_id
),
-- A text is named by its first unit. The documents of these units are found before their texts.
examples AS (
    SELECT units.* FROM units LEFT SEMI JOIN frequent ON units.doc = frequent.doc
)
SELECT examples.text, spread.df, frequent.units, frequent.pairs AS pairs_not_made, docs.doc_id AS example
FROM frequent
JOIN spread ON frequent.text_id = spread.text_id
JOIN examples ON frequent.text_id = examples.unit
JOIN docs ON frequent.doc = docs.doc
ORDER BY pairs_not_made DESC, frequent.text_id
