-- reads:  compared_texts(doc, side, text), items(item, length)
-- writes: units(unit, side, doc, text): the texts to compare, the items, side 0 here, with the documents; without items of fewer than
--         $min_words words
CREATE VIEW units AS
SELECT doc AS unit, 1 - side AS side, doc, text
FROM compared_texts
LEFT ANTI JOIN (SELECT item FROM items WHERE length < $min_words) AS short ON compared_texts.doc = short.item
