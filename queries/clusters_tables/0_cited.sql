-- reads:  documents(doc_id, sections), sentences(doc_id, sent, char_start), docs(doc, doc_id)
-- writes: cited(unit): the sentences of sections of references
CREATE TABLE cited AS
SELECT docs.doc * 4294967296 + sentences.sent AS unit
FROM sentences
JOIN (
    SELECT doc_id, section['char_start'] AS char_start, section['char_end'] AS char_end
    FROM (SELECT doc_id, unnest(sections) AS section FROM documents)
    WHERE section['kind'] = 'references'
) AS references
    ON sentences.doc_id = references.doc_id
    AND sentences.char_start >= references.char_start
    AND sentences.char_start < references.char_end
JOIN docs ON sentences.doc_id = docs.doc_id
