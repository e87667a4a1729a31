-- reads:  placed(position, item_id, rule, share, char_start, char_end, byte_start, byte_end)
-- writes: annotated(position, hits): of each document that has something of an item what that is, and where
SELECT
    position,
    array_agg(
        named_struct(
            'item_id', item_id,
            'rule', rule,
            'share', share,
            'char_start', char_start,
            'char_end', char_end,
            'byte_start', byte_start,
            'byte_end', byte_end
        )
        ORDER BY char_start, char_end, item
    ) AS hits
FROM placed
GROUP BY position
