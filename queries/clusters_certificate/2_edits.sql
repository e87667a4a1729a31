-- reads:  sample_links(text_a, text_b, similarity), units(unit, text)
-- writes: sample_links: those whose texts have a normalised edit distance of at most 1 - $least_edit_similarity
CREATE OR REPLACE TABLE sample_links AS
SELECT sample_links.*
FROM sample_links JOIN units AS a ON sample_links.text_a = a.unit JOIN units AS b ON sample_links.text_b = b.unit
WHERE edit_similarity(a.text, b.text, $least_edit_similarity) IS NOT NULL
