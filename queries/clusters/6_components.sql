-- reads:  links(text_a, text_b), texts(text_id, units)
-- writes: components(text_id, component): the texts that links connect, directly or through others, and those that stand in
--         several places
CREATE TABLE components AS
SELECT member['member'] AS text_id, member['cluster_id'] AS component
FROM (
    SELECT unnest(connected_components(text_a, text_b)) AS member
    FROM (
        SELECT text_a, text_b FROM links
        UNION ALL
        SELECT text_id AS text_a, text_id AS text_b FROM texts WHERE units > 1
    )
)
