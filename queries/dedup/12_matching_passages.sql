-- reads:  removed_units(unit, kept_unit)
-- writes: matching(unit, other, share, share_back): each passage that goes, and that which stays for it
CREATE VIEW matching AS
SELECT unit, kept_unit AS other, CAST(1 AS DOUBLE) AS share, CAST(1 AS DOUBLE) AS share_back FROM removed_units
