-- reads:  keepers(text_id, keeper), texts(text_id, set)
-- writes: measured(text_id, keeper, similarity, containment, containment_back): the same with the measures of the two sets, which are taken
--         anew
CREATE VIEW measured AS
SELECT
    keepers.text_id,
    keepers.keeper,
    jaccard(gone.set, kept.set) AS similarity,
    containment(gone.set, kept.set) AS containment,
    containment(kept.set, gone.set) AS containment_back
FROM keepers JOIN texts AS gone ON keepers.text_id = gone.text_id JOIN texts AS kept ON keepers.keeper = kept.text_id
