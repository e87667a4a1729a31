-- reads:  label_rows(contained, container, share, share_back)
-- writes: labels(contained, container, share, share_back): each labelled pair once, without those of a document and itself
CREATE TABLE labels AS
SELECT DISTINCT contained, container, share, share_back FROM label_rows WHERE contained <> container
