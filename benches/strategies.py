#!/usr/bin/env python3
"""The two strategies of `ibid threads` beside each other, by the size of the collection (QA-THREADS, figures 8 and 9).

strategies.py --ibid PATH --threads FILE [--field NAME=WEIGHT ...] [--signature SPEC] [--sizes N,N,...] [--max-postings N,N]

FILE has an `id`; tests/quality/packages.py makes one of the descriptions of Debian's packages. Of each size the threads are
those whose ids have the least hashes. Prints a Markdown table: CPU seconds, peak memory, pairs, threads that have a
near-duplicate, lists of postings that were cut, and the share of the exact pairs that were found.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def run(command):
    """CPU seconds, peak memory in MiB and standard error."""
    process = subprocess.Popen([str(part) for part in command], stderr=subprocess.PIPE, text=True)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(said)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ibid", type=Path, required=True)
    parser.add_argument("--threads", type=Path, required=True)
    parser.add_argument("--field", action="append")
    parser.add_argument("--signature", default="shingles:3")
    parser.add_argument("--threshold", default="0.5")
    parser.add_argument("--sizes", default="8000,16000,32000,64000")
    parser.add_argument("--max-postings", default="20,100,1000")
    args = parser.parse_args()
    fields = args.field or ["title=0.4", "description=0.2", "answer=0.4"]
    options = [part for field in fields for part in ("--field", field)]
    options += ["--signature", args.signature, "--threshold", args.threshold]
    strategies = {"doc": ["--strategy", "doc"]}
    for cap in args.max_postings.split(","):
        strategies[f"term, lists of up to {cap}"] = ["--strategy", "term", "--max-postings", cap]

    print("| threads | strategy | CPU s | MiB | pairs | threads with a duplicate | lists cut | recall |")
    print("| --- |" + " --- |" * 7)
    with tempfile.TemporaryDirectory() as folder:
        for size in args.sizes.split(","):
            sample, pairs = Path(folder) / "threads.parquet", Path(folder) / "pairs.parquet"
            query = f"SELECT * FROM '{args.threads}' ORDER BY md5(CAST(id AS VARCHAR)), id LIMIT {size}"
            subprocess.run([args.ibid, "sql", "-q", query, "-o", sample], check=True)
            for name, strategy in strategies.items():
                command = [args.ibid, "threads", sample, *options, *strategy, "-o", pairs]
                # The sample that says what was lost is joined exactly, which is not what the strategy takes.
                cpu, memory, said = run([*command, "--certify", "0"])
                number = {n: re.search(rf"{n} ([\d,]*\d)", said)[1] for n in ("threads", "pairs", "duplicate", "capped")}
                found = int(number["pairs"].replace(",", ""))
                exact = found if strategy[1] == "doc" else exact
                print(f"| {number['threads']} | {name} | {cpu:.1f} | {memory:,.0f} | {number['pairs']} | "
                      f"{number['duplicate']} | {number['capped']} | {found / max(1, exact):.4f} |", flush=True)


main()
