-- reads:  added_documents(doc_id, …), left_out(doc_id)
-- writes: against_documents(doc_id, …): the documents to add
CREATE VIEW against_documents AS
SELECT batch.* FROM added_documents AS batch LEFT ANTI JOIN left_out ON batch.doc_id = left_out.doc_id
