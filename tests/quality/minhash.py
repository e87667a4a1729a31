"""The similarity that `minhash_jaccard` estimates beside datasketch's and the exact one, as a Markdown table.

minhash.py --ibid PATH [--pairs 2000] [--k 128]

Needs datasketch and numpy (`pip install -r benches/requirements.txt`). Sets have 10 to 300 elements: consecutive numbers, every
thousandth number, and random 48-bit numbers; the similarities are spread evenly from 0 to 1. `k` minhashes estimate a
similarity s with a standard deviation of sqrt(s (1 - s) / k), whose mean absolute value over all s is what theory expects.
"""
import argparse
import json
import math
import random
import subprocess
import tempfile
from pathlib import Path

import datasketch
import numpy as np


def pairs(kind, count):
    dice = random.Random(kind)
    for _ in range(count):
        size = dice.randint(10, 300)
        shared = dice.randint(0, size)
        if kind == "random numbers":
            elements = dice.sample(range(1 << 48), 2 * size - shared)
        else:
            step = 1000 if kind == "every thousandth number" else 1
            start = dice.randint(0, 1 << 20)
            elements = [start + step * i for i in range(2 * size - shared)]
        a, b = elements[:size], elements[size - shared:]
        yield a, b, len(set(a) & set(b)) / len(set(a) | set(b))


def ours(program, made, k):
    with tempfile.TemporaryDirectory() as folder:
        sets = Path(folder) / "sets.jsonl"
        with open(sets, "w") as file:
            for number, (a, b, _) in enumerate(made):
                print(json.dumps({"number": number, "a": a, "b": b}), file=file)
        sets_of = ", ".join(f"minhash(array_sort(arrow_cast({side}, 'List(UInt64)')), {k})" for side in "ab")
        query = f"SELECT minhash_jaccard({sets_of}) AS estimate FROM '{sets}' ORDER BY number"
        rows = subprocess.run([program, "sql", query, "--format", "ndjson"], check=True, stdout=subprocess.PIPE).stdout
        return [json.loads(row)["estimate"] for row in rows.splitlines()]


def datasketches(made, k):
    def minhash(elements):
        m = datasketch.MinHash(num_perm=k, hashfunc=lambda data: int.from_bytes(data[:4], "little"))
        m.update_batch([datasketch.hashfunc.sha1_hash64(str(e).encode()).to_bytes(8, "little") for e in elements])
        return m

    return [minhash(a).jaccard(minhash(b)) for a, b, _ in made]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ibid", required=True, help="the program")
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--k", type=int, default=128)
    args = parser.parse_args()
    print("| sets | tool | mean error | mean absolute error | expected |\n| --- | --- | --- | --- | --- |")
    for kind in ("consecutive numbers", "every thousandth number", "random numbers"):
        made = list(pairs(kind, args.pairs))
        exact = np.array([similarity for _, _, similarity in made])
        expected = np.mean(np.sqrt(exact * (1 - exact) / args.k)) * math.sqrt(2 / math.pi)
        for tool, estimates in (("ibid", ours(args.ibid, made, args.k)), ("datasketch", datasketches(made, args.k))):
            error = np.array(estimates) - exact
            print(f"| {kind} | {tool} | {np.mean(error):+.4f} | {np.mean(np.abs(error)):.4f} | {expected:.4f} |")


main()
