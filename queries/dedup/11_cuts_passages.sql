-- reads:  stretches(position, is_whole, byte_start, byte_end)
-- writes: what is cut out of the other documents, by their positions
SELECT position, byte_start, byte_end FROM stretches WHERE NOT is_whole ORDER BY position, byte_start
