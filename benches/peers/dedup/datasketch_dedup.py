"""Deduplication with datasketch: datasketch_dedup.py candidates|verify INPUT OUT N THRESHOLD.

`candidates` takes the bands that datasketch chooses for the threshold, 9 of 13 for 0.8, and every candidate for a duplicate, as
its documentation does. `verify` looks for candidates with 16 bands of 8 and compares their sets.
"""
import sys

from datasketch import MinHash, MinHashLSH

import tables

mode, source, out, n, threshold = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), float(sys.argv[5])
table, ids, texts = tables.read(source)
verify = mode == "verify"
lsh = MinHashLSH(num_perm=128, params=(16, 8)) if verify else MinHashLSH(threshold=threshold, num_perm=128)
sets = ([shingle.encode() for shingle in tables.shingles(text, n)] for text in texts)
removed = {}
for row, sketch in enumerate(MinHash.generator(sets, num_perm=128)):
    match = next((kept for kept in sorted(lsh.query(sketch))
                  if not verify or tables.jaccard(texts[kept], texts[row], n) >= threshold), None)
    if match is None:
        lsh.insert(row, sketch, check_duplication=False)
    else:
        removed[ids[row]] = ids[match]
tables.write(table, out, removed)
