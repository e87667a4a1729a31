-- reads:  units(unit, side)
-- writes: units: a sample of them by a hash, one in $every, and of the other collection one in $against_every
CREATE OR REPLACE VIEW units AS
SELECT * FROM units
WHERE md5(CAST(unit AS VARCHAR)) <= CASE WHEN side = 0 THEN $last_hash ELSE $against_last_hash END
