-- reads:  docs(doc)
-- writes: twins(doc, twin): no rows, where documents are compared with those of the same collection
CREATE TABLE twins AS
SELECT doc, doc AS twin FROM docs WHERE false
