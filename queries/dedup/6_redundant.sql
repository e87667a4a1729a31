-- reads:  stand_ins(member, other)
-- writes: redundant(text_id): the texts that go, each for one that stays; of what stays nothing can stand for another
CREATE TABLE redundant AS
SELECT unnest(redundant_members(member, other)) AS text_id FROM stand_ins
