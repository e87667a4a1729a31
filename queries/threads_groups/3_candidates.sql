-- reads:  canonical(doc, canonical)
-- writes: candidates(doc_a, doc_b): each thread of a group with the one to keep, which it may be like only through others
CREATE OR REPLACE TABLE candidates AS
SELECT canonical AS doc_a, doc AS doc_b FROM canonical
