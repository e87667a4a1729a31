-- reads:  keepers(text_id, keeper, share)
-- writes: measured(text_id, keeper, similarity, containment, containment_back): where nothing is compared but equal texts, no rows
CREATE VIEW measured AS
SELECT text_id, keeper, share AS similarity, share AS containment, share AS containment_back FROM keepers
