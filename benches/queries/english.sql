-- reads:  $table(…, text): documents or sentences of a corpus
-- writes: the same with plain text: words of a to z and 0 to 9 with one space between them
SELECT * EXCLUDE (text), trim(regexp_replace(lower(text), '[^a-z0-9]+', ' ', 'g')) AS text FROM $table
