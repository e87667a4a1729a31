-- reads:  used(text_id, set, bands), $compared(text_id, set, bands), which is used, or banded where full buckets are compared with all
-- writes: links(text_a, text_b, similarity): the texts that share a signature and are as similar as $threshold
CREATE TABLE links AS
SELECT a.text_id AS text_a, b.text_id AS text_b, jaccard(a.set, b.set) AS similarity
FROM used AS a
JOIN $compared AS b
    -- The first similarity is the one that is joined on; the other one filters.
    ON overlap(a.bands, b.bands) >= 1
    AND jaccard(a.set, b.set) >= $threshold
    AND a.text_id < b.text_id
