-- reads:  links(text_a, text_b, similarity), members(text_id, representative, similarity)
-- writes: members: split so that each text has a similarity of at least $cohesion with its representative
CREATE OR REPLACE TABLE members AS
SELECT star['member'] AS text_id, star['representative'] AS representative, star['similarity'] AS similarity
FROM (
    SELECT unnest(star_clusters(text_a, text_b, similarity, $cohesion)) AS star
    FROM (
        SELECT text_a, text_b, similarity FROM links
        UNION ALL
        SELECT text_id AS text_a, representative AS text_b, similarity FROM members
    )
)
