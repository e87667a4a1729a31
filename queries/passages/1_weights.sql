-- reads:  matches(text_a, text_b), texts(text_id, set), signatures(set)
-- writes: weights(text_a, text_b, weight): how much rare material two matching texts share
CREATE TABLE weights AS
SELECT
    matches.text_a,
    matches.text_b,
    shared_weight(a.set, b.set, (SELECT set_frequencies(set) FROM signatures)) AS weight
FROM matches JOIN texts AS a ON matches.text_a = a.text_id JOIN texts AS b ON matches.text_b = b.text_id
