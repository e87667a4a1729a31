-- reads:  members(…)
-- writes: the places of the $most_groups largest groups, the representative and the first $most_members of each, in the order of time:
--         key, rank of the group, documents, places, …
WITH sizes AS (
    SELECT
        group_id,
        CAST(count(DISTINCT concat_ws(chr(31), side, doc_id)) AS BIGINT) AS documents,
        CAST(count(*) AS BIGINT) AS places
    FROM members
    GROUP BY group_id
),
largest AS (
    SELECT *, row_number() OVER (ORDER BY documents DESC, places DESC, group_id) AS rank FROM sizes
),
numbered AS (
    SELECT
        members.*,
        largest.documents,
        largest.places,
        largest.rank,
        row_number() OVER (
            PARTITION BY members.group_id ORDER BY members.seconds NULLS LAST, members.doc_id, members.side, members.char_start
        ) AS place
    FROM members JOIN largest ON members.group_id = largest.group_id
    WHERE largest.rank <= $most_groups
)
SELECT
    substr(md5(concat_ws(chr(31), group_id, side, doc_id, char_start, char_end)), 1, 16) AS key,
    *
FROM numbered
WHERE place <= $most_members OR representative
ORDER BY rank, place
