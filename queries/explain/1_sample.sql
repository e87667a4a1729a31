-- reads:  docs(doc)
-- writes: docs: every $every-th document
CREATE OR REPLACE TABLE docs AS SELECT * FROM docs WHERE CAST(doc AS BIGINT) % $every = 0
