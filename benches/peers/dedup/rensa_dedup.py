"""Deduplication with rensa: rensa_dedup.py estimate|verify INPUT OUT N THRESHOLD.

`estimate` is the deduplicator of rensa's README, with 8 bands of 16, which compares sketches and does not say what is kept for
what goes. `verify` looks for candidates with 16 bands of 8 and compares their sets.
"""
import sys

from rensa import RMinHash, RMinHashDeduplicator, RMinHashLSH

import tables

mode, source, out, n, threshold = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), float(sys.argv[5])
table, ids, texts = tables.read(source)
removed = {}
if mode == "estimate":
    deduplicator = RMinHashDeduplicator(threshold=threshold, num_perm=128, use_lsh=True)
    stays = deduplicator.add_pairs((str(row), tables.shingles(text, n)) for row, text in enumerate(texts))
    removed = {id: None for id, stay in zip(ids, stays) if not stay}
else:
    lsh = RMinHashLSH(threshold=threshold, num_perm=128, num_bands=16)
    for begin in range(0, len(texts), 10_000):
        sets = [tables.shingles(text, n) for text in texts[begin:begin + 10_000]]
        for row, sketch in enumerate(RMinHash.from_token_sets(sets, num_perm=128, seed=42), begin):
            match = next((kept for kept in sorted(lsh.query(sketch))
                          if tables.jaccard(texts[kept], texts[row], n) >= threshold), None)
            if match is None:
                lsh.insert(row, sketch)
            else:
                removed[ids[row]] = ids[match]
tables.write(table, out, removed)
