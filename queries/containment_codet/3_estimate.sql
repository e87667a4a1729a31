-- reads:  nodes(side, node)
-- writes: one row: how many pairs of visits the nodes stand for
SELECT
    CAST(
        coalesce(
            sum(
                CASE
                    WHEN $against THEN own * other
                    WHEN $add THEN own * other + other * (other - 1) / 2
                    ELSE own * (own - 1) / 2
                END
            ),
            0
        )
        AS BIGINT
    ) AS pairs
FROM (
    SELECT count(*) FILTER (WHERE side = 0) AS own, count(*) FILTER (WHERE side = 1) AS other FROM nodes GROUP BY node
)
