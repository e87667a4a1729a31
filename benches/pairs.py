"""Counts a table of pairs: pairs.py FILE [TRUTH], a process of its own so that the harness stays small.

Prints JSON: how many pairs, a checksum of their ids, and how many of them are in TRUTH.
"""
import json
import sys

import numpy as np
import pyarrow.parquet as pq


def ids(path):
    table = pq.read_table(path, columns=["id_a", "id_b"])
    a, b = (table[column].cast("int64").to_numpy() for column in table.column_names)
    pairs = np.unique(np.stack([np.minimum(a, b), np.maximum(a, b)]), axis=1)
    if pairs.shape[1] != len(a):
        sys.exit(f"{path} has pairs more than once")
    return pairs


a, b = ids(sys.argv[1])
counts = {"pairs": len(a), "checksum": int(((a * 1_000_003 + b * 7_919) % 998_244_353).sum())}
if len(sys.argv) > 2:
    truth = ids(sys.argv[2])
    # Ids are below 2^32, so a pair is one number.
    counts["right"] = len(np.intersect1d(a << 32 | b, truth[0] << 32 | truth[1], assume_unique=True))
print(json.dumps(counts))
