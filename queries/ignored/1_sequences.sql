-- reads:  ignored_documents(text)
-- writes: ignored_sequences(words): the words of each document whose text is to be ignored
CREATE TABLE ignored_sequences AS
SELECT word_sequence(text) AS words FROM ignored_documents
