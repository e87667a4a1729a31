-- reads:  $links(text_a, text_b, similarity), units(unit, text)
-- writes: $links: those whose texts have a normalised edit distance of at most 1 - $least_edit_similarity
CREATE OR REPLACE TABLE $links AS
SELECT $links.*
FROM $links JOIN units AS a ON $links.text_a = a.unit JOIN units AS b ON $links.text_b = b.unit
WHERE edit_similarity(a.text, b.text, $least_edit_similarity) IS NOT NULL
