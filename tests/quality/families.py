#!/usr/bin/env python3
"""How well the groups of `ibid dedup` are the families of licence texts in data/licenses, as a Markdown table.

families.py --ibid PATH [--signature NAME ...] [--threshold T ...]

A group is a text that stays with those that go for it. Figures are B³ (Bagga and Baldwin 1998): of each text the share of its group that is
of its family, and the share of its family that is in its group, in the mean over all texts, and their harmonic mean. A family has other
licences beside it that were made from it: texts that are alike and are not the same.
"""
import argparse
import gzip
import json
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

TEXTS = Path(__file__).parents[2] / "data" / "licenses" / "texts.jsonl.gz"


def groups(ibid, signature, threshold):
    """The text that stays for each that goes."""
    with tempfile.TemporaryDirectory() as folder:
        clean = f"{folder}/clean"
        options = ["--signature", signature, "--threshold", str(threshold), "--ids-only", "--quiet"]
        subprocess.run([ibid, "dedup", TEXTS, "-o", clean, *options], check=True)
        sql = f"SELECT id, kept_id FROM '{clean}/removed.parquet'"
        run = subprocess.run([ibid, "sql", sql, "--format", "ndjson"], check=True, stdout=subprocess.PIPE)
    return {row["id"]: row["kept_id"] for row in map(json.loads, run.stdout.splitlines())}


def b_cubed(families, kept):
    group = {text: kept.get(text, text) for text in families}
    both = Counter((family, group[text]) for text, family in families.items())
    of_family, of_group = Counter(families.values()), Counter(group.values())
    precision = sum(n * n / of_group[group] for (_, group), n in both.items()) / len(families)
    recall = sum(n * n / of_family[family] for (family, _), n in both.items()) / len(families)
    return precision, recall, 2 * precision * recall / (precision + recall)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ibid", required=True, help="the program")
    parser.add_argument("--signature", nargs="+", default=["shingles:1", "shingles:2", "shingles:3", "shingles:5"])
    parser.add_argument("--threshold", nargs="+", type=float, default=[0.5, 0.6, 0.7, 0.8, 0.85, 0.9])
    args = parser.parse_args()
    with gzip.open(TEXTS, "rt", encoding="utf-8") as lines:
        families = {row["id"]: row["family"] for row in map(json.loads, lines)}
    print("| signature | threshold | removed | precision | recall | B³ F1 |")
    print("| --- " * 6 + "|")
    print("| none | | 0 | {:.3f} | {:.3f} | {:.3f} |".format(*b_cubed(families, {})))
    for signature in args.signature:
        for threshold in args.threshold:
            kept = groups(args.ibid, signature, threshold)
            figures = " | ".join(f"{figure:.3f}" for figure in b_cubed(families, kept))
            print(f"| {signature} | {threshold} | {len(kept)} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
