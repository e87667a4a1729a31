-- reads:  slices(slice, text_a, text_b)
-- writes: where the two texts of each differ
SELECT slice, differences(text_a, text_b) AS differences FROM slices ORDER BY slice
