-- reads:  texts(text_id, units, against_units), links(text_a, text_b), occurrences(text_id, doc), units(unit, text)
-- writes: capped(text, df, units, pairs_not_made, example): what the limit on frequent texts left out
CREATE TABLE capped AS
WITH frequent AS (
    SELECT
        text_id,
        units,
        CASE WHEN $against THEN against_units * (units - against_units) ELSE units * (units - 1) / 2 END AS pairs
    FROM texts
    WHERE units > $max_frequency
),
linked AS (
    -- A link counts for the more frequent of its two texts.
    SELECT
        CASE WHEN a.units >= b.units THEN a.text_id ELSE b.text_id END AS text_id,
        sum(CASE
            WHEN $against
                THEN a.against_units * (b.units - b.against_units) + b.against_units * (a.units - a.against_units)
            ELSE a.units * b.units
        END) AS pairs
    FROM links JOIN texts AS a ON links.text_a = a.text_id JOIN texts AS b ON links.text_b = b.text_id
    WHERE greatest(a.units, b.units) > $max_frequency
    GROUP BY 1
),
spread AS (
    SELECT occurrences.text_id, count(DISTINCT occurrences.doc) AS df
    FROM occurrences JOIN frequent ON occurrences.text_id = frequent.text_id
    GROUP BY occurrences.text_id
)
SELECT
    units.text,
    spread.df,
    frequent.units,
    frequent.pairs + coalesce(linked.pairs, 0) AS pairs_not_made,
    docs.doc_id AS example
FROM frequent
JOIN spread ON frequent.text_id = spread.text_id
JOIN units ON frequent.text_id = units.unit
JOIN docs ON units.doc = docs.doc
LEFT JOIN linked ON frequent.text_id = linked.text_id
WHERE frequent.pairs + coalesce(linked.pairs, 0) > 0
ORDER BY pairs_not_made DESC, frequent.text_id
