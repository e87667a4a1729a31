-- reads:  hits(doc, item, word_start, word_end, item_word_start, item_word_end, rule, share, items), docs(doc, doc_id), positions(doc,
--         position), places(doc, word_start, word_end, char_start, char_end, byte_start, byte_end)
-- writes: placed(position, id, item, item_id, rule, words, share, items, char_start, char_end, byte_start, byte_end, item_char_start,
--         item_char_end): the same with where they stand
CREATE TABLE placed AS
SELECT
    positions.position,
    documents.doc_id AS id,
    hits.item,
    items.doc_id AS item_id,
    hits.rule,
    hits.item_word_end - hits.item_word_start AS words,
    hits.share,
    CAST(hits.items AS BIGINT) AS items,
    place.char_start,
    place.char_end,
    place.byte_start,
    place.byte_end,
    item_place.char_start AS item_char_start,
    item_place.char_end AS item_char_end
FROM hits
JOIN docs AS documents ON hits.doc = documents.doc
JOIN docs AS items ON hits.item = items.doc
JOIN positions ON hits.doc = positions.doc
LEFT JOIN places AS place
    ON hits.doc = place.doc AND hits.word_start = place.word_start AND hits.word_end = place.word_end
LEFT JOIN places AS item_place
    ON hits.item = item_place.doc
    AND hits.item_word_start = item_place.word_start
    AND hits.item_word_end = item_place.word_end
