-- reads:  $table(…, text): documents or sentences of a corpus
-- writes: the same with plain text: Chinese characters with one space between them, for tools that cut at spaces
SELECT * EXCLUDE (text), array_to_string(characters(regexp_replace(text, '[^\p{Han}&&\p{L}]+', '', 'g')), ' ') AS text FROM $table
