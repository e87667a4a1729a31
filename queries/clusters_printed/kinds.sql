-- reads:  text_links(kind)
-- writes: how many pairs of distinct texts there are of each kind
SELECT kind, count(*) AS pairs FROM text_links GROUP BY kind ORDER BY pairs DESC, kind
