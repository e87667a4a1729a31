-- reads:  sampled(fingerprint)
-- writes: ignored(fingerprint): no rows, where no text is to be ignored
CREATE TABLE ignored AS
SELECT fingerprint FROM sampled WHERE false
