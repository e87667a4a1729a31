-- reads:  tokens(tokens)
-- writes: the words of each sentence
SELECT tokens FROM tokens
