-- reads:  $sentences(text)
-- writes: tokens(tokens): the characters of each sentence
CREATE OR REPLACE VIEW tokens AS
SELECT characters(normalize(text, $language)) AS tokens FROM $sentences
