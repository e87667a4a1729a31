-- reads:  signatures(doc, set)
-- writes: postings(doc, element): the elements of all documents
CREATE TABLE postings AS
SELECT doc, unnest(set) AS element FROM signatures
