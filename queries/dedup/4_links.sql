-- reads:  used(text_id, set, bands), banded(text_id, set, bands)
-- writes: links(text_a, text_b, similarity): the texts that are as similar as $threshold among those that share a signature with one of
--         its first texts, which are kept rather than the others
CREATE TABLE links AS
SELECT a.text_id AS text_a, b.text_id AS text_b, jaccard(a.set, b.set) AS similarity
FROM used AS a
JOIN banded AS b
    -- The first similarity is the one that is joined on; the other one filters.
    ON overlap(a.bands, b.bands) >= 1
    AND jaccard(a.set, b.set) >= $threshold
    AND a.text_id < b.text_id
