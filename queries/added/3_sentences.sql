-- reads:  added_sentences(doc_id, …), left_out(doc_id)
-- writes: against_sentences(doc_id, …): the sentences to add
CREATE VIEW against_sentences AS
SELECT batch.* FROM added_sentences AS batch LEFT ANTI JOIN left_out ON batch.doc_id = left_out.doc_id
