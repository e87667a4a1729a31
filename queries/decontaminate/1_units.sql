-- reads:  compared_texts(doc, side, text)
-- writes: units(unit, side, doc, text): the texts to compare, the items, side 0 here, with the documents
CREATE VIEW units AS
SELECT doc AS unit, 1 - side AS side, doc, text FROM compared_texts
