"""The similarity join in Polars, over all common elements: polars_join.py INPUT OUTPUT N THRESHOLD."""
import sys

import polars as pl

source, output, n, threshold = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
words = pl.read_parquet(source).select("id", element=pl.col("text").str.split(" ")).explode("element")
if n > 1:
    # The rows of a text stand together, so a run of words is n rows with one id.
    run = pl.concat_str([pl.col("element").shift(-k) for k in range(n)], separator=" ")
    words = words.with_columns(element=run).filter(pl.col("id") == pl.col("id").shift(1 - n))
postings = words.select("id", element=pl.col("element").hash()).unique()
postings = postings.with_columns(size=pl.len().over("id")).lazy()
pairs = (
    postings.join(postings, on="element", suffix="_b")
    .filter(pl.col("id") < pl.col("id_b"),
            pl.min_horizontal("size", "size_b") >= threshold * pl.max_horizontal("size", "size_b") - 1e-9)
    .group_by("id", "id_b")
    .agg(shared=pl.len(), size=pl.first("size"), size_b=pl.first("size_b"))
    .filter(pl.col("shared") * 1.0 / (pl.col("size") + pl.col("size_b") - pl.col("shared")) >= threshold)
    .select(id_a="id", id_b="id_b")
)
pairs.collect(engine="streaming").write_parquet(output)
