-- reads:  texts(text_id, units, against_units), links(text_a, text_b)
-- writes: text_pairs(text_id, units, pairs): how many pairs of places each text stands for, at most; a link counts for the
--         more frequent of its two texts; where documents are added, $add, without the pairs that none of them is in
CREATE TABLE text_pairs AS
WITH equal AS (
    SELECT
        text_id,
        CASE
            WHEN $against THEN against_units * (units - against_units)
            WHEN $add THEN against_units * (units - against_units) + against_units * (against_units - 1) / 2
            ELSE units * (units - 1) / 2
        END AS pairs
    FROM texts
),
linked AS (
    SELECT
        CASE WHEN a.units >= b.units THEN a.text_id ELSE b.text_id END AS text_id,
        CASE
            WHEN $against
                THEN a.against_units * (b.units - b.against_units) + b.against_units * (a.units - a.against_units)
            WHEN $add THEN a.units * b.units - (a.units - a.against_units) * (b.units - b.against_units)
            ELSE a.units * b.units
        END AS pairs
    FROM links JOIN texts AS a ON links.text_a = a.text_id JOIN texts AS b ON links.text_b = b.text_id
),
summed AS (
    SELECT text_id, sum(pairs) AS pairs
    FROM (SELECT * FROM equal UNION ALL SELECT * FROM linked)
    WHERE pairs > 0
    GROUP BY text_id
)
SELECT texts.text_id, texts.units, summed.pairs FROM summed JOIN texts ON summed.text_id = texts.text_id
