-- reads:  nothing
-- writes: stand_ins(member, other, share, share_back): what can stand for a text, here nothing but the same text
CREATE VIEW stand_ins AS
SELECT CAST(0 AS BIGINT) AS member, CAST(0 AS BIGINT) AS other, CAST(0 AS DOUBLE) AS share, CAST(0 AS DOUBLE) AS share_back
WHERE false
