-- reads:  stretched(doc, of_item, k, stretch, word)
-- writes: stretches(doc, word_start, word_end): the words of each stretch
CREATE TABLE stretches AS
SELECT doc, CAST(min(word) AS INT) AS word_start, CAST(max(word) + k AS INT) AS word_end
FROM stretched
GROUP BY doc, of_item, k, stretch
