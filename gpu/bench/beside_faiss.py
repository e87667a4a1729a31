"""The search by Hamming distance beside FAISS (https://github.com/facebookresearch/faiss), on the processor.

beside_faiss.py IBID_GPU_BENCH

Codes of 64 bits, 1,000,000 rows and 2,000 queries, distance at most 3, all cores. Each program is run three times, in turns,
on the same codes; printed are the best time of each and the number of hits, which must be the same. Needs faiss-cpu.
"""
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import faiss
import numpy

DISTANCE = 3
RUNS = 3


def main(bench):
    best = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(RUNS):
            output = subprocess.run([bench, "--dump", folder], check=True, stdout=subprocess.PIPE, text=True).stdout
            for name, seconds, hits in re.findall(r"(.*): ([0-9.]+) s, (\d+) hits", output):
                note(best, name, float(seconds), int(hits))
            rows, queries = (numpy.fromfile(Path(folder, name), numpy.uint8).reshape(-1, 8) for name in ("rows.bin", "queries.bin"))
            index = faiss.IndexBinaryFlat(64)
            index.add(rows)
            begin = time.perf_counter()
            # FAISS gives what is nearer than the radius.
            limits, _, _ = index.range_search(queries, DISTANCE + 1)
            note(best, f"FAISS {faiss.__version__}, IndexBinaryFlat", time.perf_counter() - begin, int(limits[-1]))
    print(f"{len(rows)} rows, {len(queries)} queries, 64 bits, d = {DISTANCE}, {faiss.omp_get_max_threads()} threads")
    for name, (seconds, hits) in best.items():
        print(f"{name:>32}: {seconds:.4f} s, {len(rows) * len(queries) / seconds / 1e9:.2f} billion pairs a second, {hits} hits")
    if len({hits for _, hits in best.values()}) != 1:
        sys.exit("the numbers of hits differ")


def note(best, name, seconds, hits):
    best[name] = min(best.get(name, (seconds, hits)), (seconds, hits))


if __name__ == "__main__":
    main(sys.argv[1])
