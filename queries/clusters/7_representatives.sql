-- reads:  components(text_id, component), links(text_a, text_b), texts(text_id, units)
-- writes: representatives(component, representative): of each component the text with most links, then in most places, then
--         the first
CREATE TABLE representatives AS
WITH linked AS (
    SELECT text_id, count(*) AS links
    FROM (SELECT text_a AS text_id FROM links UNION ALL SELECT text_b AS text_id FROM links)
    GROUP BY text_id
)
SELECT component, representative
FROM (
    SELECT
        components.component,
        components.text_id AS representative,
        row_number() OVER (
            PARTITION BY components.component
            ORDER BY coalesce(linked.links, 0) DESC, texts.units DESC, components.text_id
        ) AS place
    FROM components
    JOIN texts ON components.text_id = texts.text_id
    LEFT JOIN linked ON components.text_id = linked.text_id
)
WHERE place = 1
