-- reads:  nothing
-- writes: sets(field, doc, side, set), to which each field adds its own
CREATE VIEW sets AS
SELECT 0 AS field, doc, side, arrow_cast([], 'List(UInt64)') AS set FROM docs WHERE false
