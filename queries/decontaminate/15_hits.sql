-- reads:  placed(position, id, item, item_id, rule, words, share, items, char_start … item_char_end)
-- writes: what the documents have of items, in the order of the documents
SELECT
    id,
    item_id,
    rule,
    words,
    share,
    items,
    char_start,
    char_end,
    byte_start,
    byte_end,
    item_char_start,
    item_char_end
FROM placed
ORDER BY position, char_start, char_end, item
