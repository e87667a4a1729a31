-- reads:  nothing
-- writes: nothing: bitmaps of the sets of all queries and all sentences are compared, which is quickest where one side is small
SET ibid.similarity_join.strategy = 'bitmap'
