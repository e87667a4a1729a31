-- reads:  stored_pairs(rank, other_rank, share, share_back), as pairs of an earlier run
-- writes: stand_ins(member, other, share, share_back): what can stand for a text, here what is as similar as $threshold of what an earlier
--         run found
CREATE VIEW stand_ins AS
SELECT rank AS member, other_rank AS other, share, share_back
FROM stored_pairs
WHERE share >= $threshold AND NOT (share = 1 AND share_back = 1)
