#!/usr/bin/env python3
"""Precision and recall of `reuse_kind` per kind, and the confusion matrix, as a Markdown table.

kinds.py --ibid PATH [--pairs data/kinds/pairs.jsonl] [--split held_out|tuning|all] [--min-precision KIND=X ...]

Asks the program for the kind of each labelled pair (`ibid sql` reads the file) and compares. A row is a labelled kind;
its last columns count what the function says. *Clear* leaves out the pairs whose label is marked as doubtful. Exits 1
where the precision of a kind, over all pairs of the split, is below a bound that was given.
"""
import argparse
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

KINDS = ["identical", "copy_edit", "factual_drift", "template", "reference", "other"]
PAIRS = Path(__file__).parents[2] / "data" / "kinds" / "pairs.jsonl"
# What both say of a pair that it states other facts, of the same subject or of another.
FACTS = ("factual_drift", "template")


def found(ibid, pairs):
    path = str(pairs).replace("'", "''")
    sql = f"""SELECT kind, split, doubtful, reuse_kind(text_a, text_b) AS found, count(*) AS pairs
              FROM '{path}' GROUP BY kind, split, doubtful, reuse_kind(text_a, text_b)"""
    run = subprocess.run([ibid, "sql", sql, "--format", "ndjson"], check=True, stdout=subprocess.PIPE)
    return [json.loads(line) for line in run.stdout.splitlines()]


def share(part, whole):
    return part / whole if whole else 0.0


def figures(counts, kinds):
    """Precision and recall of `kinds` taken as one."""
    right = sum(counts[labelled, said] for labelled in kinds for said in kinds)
    said = sum(counts[labelled, said] for labelled in KINDS for said in kinds)
    labelled = sum(counts[labelled, said] for labelled in kinds for said in KINDS)
    return share(right, said), share(right, labelled)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ibid", required=True, help="the program")
    parser.add_argument("--pairs", type=Path, default=PAIRS)
    parser.add_argument("--split", choices=["held_out", "tuning", "all"], default="held_out")
    parser.add_argument("--min-precision", action="append", default=[], metavar="KIND=X")
    args = parser.parse_args()

    every, clear = Counter(), Counter()
    for row in found(args.ibid, args.pairs):
        if args.split in (row["split"], "all"):
            every[row["kind"], row["found"]] += row["pairs"]
            clear[row["kind"], row["found"]] += 0 if row["doubtful"] else row["pairs"]

    print("| labelled | pairs | precision | recall | clear pairs: precision | recall | " + " | ".join(KINDS) + " |")
    print("| --- " * (6 + len(KINDS)) + "|")
    rows = [(kind, (kind,)) for kind in KINDS] + [(" or ".join(FACTS), FACTS)]
    for name, kinds in rows:
        said = [sum(every[labelled, other] for labelled in kinds) for other in KINDS]
        shares = [f"{x:.2f}" for x in (*figures(every, kinds), *figures(clear, kinds))]
        print(f"| {name} | {sum(said)} | {' | '.join(shares)} | {' | '.join(map(str, said))} |")
    right = [sum(counts[kind, kind] for kind in KINDS) for counts in (every, clear)]
    sizes = [sum(counts.values()) for counts in (every, clear)]
    print(f"\nRight: {right[0]} of {sizes[0]} pairs ({share(right[0], sizes[0]):.2f}), of the clear ones {right[1]} of "
          f"{sizes[1]} ({share(right[1], sizes[1]):.2f}).")

    short = []
    for bound in args.min_precision:
        kind, _, least = bound.partition("=")
        if kind not in KINDS:
            sys.exit(f"--min-precision {bound}: the kinds are {', '.join(KINDS)}")
        if figures(every, (kind,))[0] < float(least):
            short.append(f"precision of {kind} {figures(every, (kind,))[0]:.4f} is below {least}")
    if short:
        sys.exit("\n".join(short))


if __name__ == "__main__":
    main()
