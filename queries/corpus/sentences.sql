-- reads:  documents(doc_id, text)
-- writes: sentences(doc_id, sent, char_start, char_end, byte_start, byte_end, text)
CREATE TABLE sentences AS
SELECT
    doc_id,
    s['sent'] AS sent,
    s['char_start'] AS char_start,
    s['char_end'] AS char_end,
    s['byte_start'] AS byte_start,
    s['byte_end'] AS byte_end,
    s['text'] AS text
FROM (SELECT doc_id, unnest(sentences(text)) AS s FROM documents)
