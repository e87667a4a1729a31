-- reads:  found(…)
-- writes: placed(…): the same
CREATE VIEW placed AS SELECT * FROM found
