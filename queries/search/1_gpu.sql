-- reads:  nothing
-- writes: nothing: whether codes are compared on a GPU
SET ibid.gpu = $gpu
