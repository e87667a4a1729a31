-- reads:  common(doc, side, prints), clusters(members)
-- writes: common_runs(doc, side, family, word_start, word_end, fingerprints): the runs of common fingerprints of one cluster
CREATE TABLE common_runs AS
SELECT
    doc,
    side,
    run['cluster_id'] AS family,
    run['word_start'] AS word_start,
    run['word_end'] AS word_end,
    run['fingerprints'] AS fingerprints
FROM (
    SELECT doc, side, unnest(common_runs(prints, (SELECT members FROM clusters), $k, $bridge)) AS run FROM common
)
