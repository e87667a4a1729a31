-- reads:  buckets(bucket, texts, pairs_not_made, example)
-- writes: the signatures of too many texts, those that would make most pairs first
SELECT * FROM buckets ORDER BY pairs_not_made DESC, bucket
