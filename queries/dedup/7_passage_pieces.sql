-- reads:  passages(doc, piece, char_start, char_end, byte_start, byte_end)
-- writes: pieces(doc, piece, char_start, char_end, byte_start, byte_end): what goes and what stays for it, in the place of whole documents
CREATE OR REPLACE VIEW pieces AS SELECT doc, piece, char_start, char_end, byte_start, byte_end FROM passages
