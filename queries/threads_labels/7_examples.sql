-- reads:  candidates(doc_a, doc_b, label, a similarity for each field)
-- writes: the labelled pairs with the similarity of each field
SELECT doc_a, label, $names FROM candidates ORDER BY doc_a, doc_b, label
