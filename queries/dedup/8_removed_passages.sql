-- reads:  runs(doc, word_start, word_end, kept_doc, kept_word_start, kept_word_end), passages(passage, doc, word_start, word_end)
-- writes: removed_units(unit, kept_unit, similarity, containment, containment_back, rule): the passages that go, each with that which stays
--         for it
CREATE TABLE removed_units AS
SELECT
    gone.passage AS unit,
    stays.passage AS kept_unit,
    CAST(1 AS DOUBLE) AS similarity,
    CAST(1 AS DOUBLE) AS containment,
    CAST(1 AS DOUBLE) AS containment_back,
    'equal' AS rule
FROM runs
JOIN passages AS gone
    ON runs.doc = gone.doc AND runs.word_start = gone.word_start AND runs.word_end = gone.word_end
JOIN passages AS stays
    ON runs.kept_doc = stays.doc AND runs.kept_word_start = stays.word_start AND runs.kept_word_end = stays.word_end
