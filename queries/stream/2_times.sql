-- reads:  arriving(doc, time)
-- writes: when each document came, $time; NULL where that cannot be told
SELECT doc, $time AS seconds FROM arriving
