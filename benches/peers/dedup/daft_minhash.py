"""Deduplication with daft: daft_minhash.py INPUT OUT N THRESHOLD.

The steps of the example in its documentation: the expression `minhash`, bands of the best shape for the threshold (9 of 13 for
0.8), and the first of each connected component of candidates. SciPy finds the components, in place of rounds of joins.
"""
import os
import sys

os.environ.update(DAFT_ANALYTICS_ENABLED="0", DO_NOT_TRACK="1", DAFT_PROGRESS_BAR="0")

import daft  # noqa: E402
import numpy as np  # noqa: E402
from daft import DataType, col  # noqa: E402
from datasketch import MinHashLSH  # noqa: E402
from scipy.sparse import coo_array  # noqa: E402
from scipy.sparse.csgraph import connected_components  # noqa: E402

source, out, n, threshold = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
shape = MinHashLSH(threshold=threshold, num_perm=128)  # its choice is the function that the example has
documents = daft.read_parquet(source)
hashes = documents.select(
    "id", col("text").minhash(num_hashes=shape.b * shape.r, ngram_size=n, seed=42, hash_function="xxhash").alias("hashes"))
bands = hashes.select("id", col("hashes").chunk(shape.r).alias("bands"),
                      daft.lit(list(range(shape.b))).alias("band")).explode("bands", "band")
groups = bands.groupby("band", "bands").agg(col("id").list_agg().alias("ids")).where(col("ids").length() > 1)
edges = groups.select(col("ids").list_min().alias("u"), col("ids").alias("v")).explode("v") \
    .where(col("u") != col("v")).distinct().to_arrow()

nodes, ends = np.unique(np.concatenate([edges["u"].to_numpy(), edges["v"].to_numpy()]), return_inverse=True)
u, v = np.split(ends, 2)
_, component = connected_components(coo_array((np.ones(len(u), bool), (u, v)), shape=(len(nodes), len(nodes))), False)
# The nodes are sorted, so that the first of a component is its least.
first = nodes[np.unique(component, return_index=True)[1]][component]
removed = daft.from_pydict({"id": nodes[nodes != first], "kept_id": first[nodes != first]})
removed = removed.select(col("id").cast(DataType.int64()), col("kept_id").cast(DataType.int64()))
removed.write_parquet(f"{out}/removed.parquet")
documents.join(removed, on="id", how="anti").write_parquet(f"{out}/kept.parquet")
