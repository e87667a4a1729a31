-- reads:  $sentences(text)
-- writes: tokens(tokens): the words of each sentence
CREATE OR REPLACE VIEW tokens AS
SELECT words(normalize(text, $language)) AS tokens FROM $sentences
