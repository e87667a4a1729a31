-- reads:  text_links(kind, places_a, places_b)
-- writes: how many pairs of distinct texts there are of each kind
SELECT kind, count(*) AS pairs FROM text_links GROUP BY kind ORDER BY pairs DESC, kind
