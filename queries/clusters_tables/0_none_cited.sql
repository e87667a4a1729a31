-- reads:  docs(doc)
-- writes: cited(unit): none, where the documents have no sections
CREATE VIEW cited AS
SELECT doc AS unit FROM docs WHERE false
