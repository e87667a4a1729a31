-- reads:  stand_ins(member, other, share, share_back), redundant(text_id)
-- writes: keepers(text_id, keeper, share, share_back): for each text that goes the one that stays and stands for it best, of several the
--         first
CREATE TABLE keepers AS
SELECT member AS text_id, other AS keeper, share, share_back
FROM (
    SELECT kept.*, row_number() OVER (PARTITION BY kept.member ORDER BY kept.share DESC, kept.other) AS place
    FROM (SELECT * FROM stand_ins LEFT ANTI JOIN redundant ON stand_ins.other = redundant.text_id) AS kept
    LEFT SEMI JOIN redundant ON kept.member = redundant.text_id
)
WHERE place = 1
