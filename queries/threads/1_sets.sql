-- reads:  sets(field, doc, side, set), signatures(doc, side, set)
-- writes: sets: those that were there, and those of the field number $field; a field without a signature has no set
CREATE OR REPLACE VIEW sets AS
SELECT field, doc, side, set FROM sets
UNION ALL
SELECT $field AS field, doc, side, set FROM signatures WHERE cardinality(set) > 0
