-- reads:  sets(field, doc, side, set)
-- writes: texts(text_id, field, set, threads, against_threads): the distinct sets of each field that has a
--         weight
CREATE TABLE texts AS
SELECT
    min(doc) * 4294967296 + field AS text_id,
    field,
    unpack_set(packed) AS set,
    count(*) AS threads,
    sum(side) AS against_threads
-- Bytes are grouped in half the time of lists.
FROM (SELECT field, doc, side, pack_set(set) AS packed FROM sets WHERE field IN ($founding))
GROUP BY field, packed
