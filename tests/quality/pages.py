#!/usr/bin/env python3
"""How well a similarity tells pages of a documentation site from their next edition's, as a Markdown table.

pages.py --ibid PATH --debs DIR [--signature NAME ...]

The pages are those of Debian's llvm-14-doc and clang-14-doc beside those of llvm-16-doc and clang-16-doc, which `apt-get download` brings
into DIR. Two pages of one path are a near-duplicate, unless their words are the same; beside each stand the three pages of other paths that
share most words with it, which are none. *AUC* is how often a near-duplicate has a higher similarity than one of the others. *F1* is
that of the pairs whose similarity reaches a threshold.
"""
import argparse
import bisect
import functools
import json
import subprocess
import tempfile
from pathlib import Path

from plant import download, find_deb

SITES = {"clang": ("clang-14-doc", "clang-16-doc"), "llvm": ("llvm-14-doc", "llvm-16-doc")}
NEGATIVES = 3
THRESHOLDS = (0.5, 0.65, 0.8)


def folder_of(package, debs):
    """The pages of a package."""
    folder = debs / package
    if not folder.exists():
        download([package], debs)
        subprocess.run(["dpkg-deb", "-x", find_deb(debs, package), folder], check=True)
    return folder


# The labels take those of the first signature of both sites.
@functools.lru_cache(maxsize=len(SITES))
def similarities(ibid, old, new, signature):
    """The similarity of each two pages that have one."""
    with tempfile.TemporaryDirectory() as folder:
        found = f"{folder}/pairs.parquet"
        options = ["--unit", "document", "--signature", signature, "--threshold", "0.02", "--quiet"]
        subprocess.run([ibid, "pairs", old, "--against", new, "-o", found, *options], check=True)
        sql = f"SELECT id_a, id_b, similarity FROM '{found}'"
        run = subprocess.run([ibid, "sql", sql, "--format", "ndjson"], check=True, stdout=subprocess.PIPE)
    rows = map(json.loads, run.stdout.splitlines())
    return {(row["id_a"], row["id_b"]): row["similarity"] for row in rows}


def labelled(words):
    """The pairs that are near-duplicates, and those that are none, by the similarity of their words."""
    others, same = {}, []
    for (a, b), similarity in words.items():
        if a != b:
            others.setdefault(a, []).append((similarity, b))
        elif similarity < 1:
            same.append((a, b))
    none = [(a, b) for a, _ in same for _, b in sorted(others.get(a, []), reverse=True)[:NEGATIVES]]
    return same, none


def auc(positive, negative):
    negative = sorted(negative)
    below = [bisect.bisect_left(negative, score) + bisect.bisect_right(negative, score) for score in positive]
    return sum(below) / 2 / len(positive) / len(negative)


def f1(positive, negative, threshold):
    hits = sum(score >= threshold for score in positive)
    wrong = sum(score >= threshold for score in negative)
    return 2 * hits / (hits + wrong + len(positive))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ibid", required=True, help="the program")
    parser.add_argument("--debs", type=Path, required=True, help="a folder for packages")
    signatures = ["shingles:1", "shingles:2", "shingles:3", "shingles:5"]
    parser.add_argument("--signature", nargs="+", default=signatures)
    args = parser.parse_args()
    columns = ["AUC", *(f"F1 from {threshold}" for threshold in THRESHOLDS)]
    columns = [f"{site}: {column}" for site in SITES for column in columns]
    print("| boilerplate | signature | near-duplicates | " + " | ".join(columns) + " |")
    print("| --- " * (3 + len(columns)) + "|")
    with tempfile.TemporaryDirectory() as made:
        for boilerplate in ("keep", "drop"):
            corpora = {}
            for site, packages in SITES.items():
                for package in packages:
                    corpus = f"{made}/{boilerplate}-{package}"
                    pages = next(folder_of(package, args.debs).glob("usr/share/doc/*/html"))
                    command = [args.ibid, "ingest", "--boilerplate", boilerplate, "**/*.html", "-o", corpus, "--quiet"]
                    subprocess.run(command, check=True, cwd=pages)
                    corpora.setdefault(site, []).append(corpus)
            labels = {site: labelled(similarities(args.ibid, *corpora[site], "shingles:1")) for site in SITES}
            for signature in args.signature:
                figures = []
                for site in SITES:
                    found = similarities(args.ibid, *corpora[site], signature)
                    scores = [[found.get(pair, 0) for pair in pairs] for pairs in labels[site]]
                    figures += [auc(*scores), *(f1(*scores, threshold) for threshold in THRESHOLDS)]
                figures = [f"{figure:.3f}" for figure in figures]
                count = sum(len(labels[site][0]) for site in SITES)
                print(f"| {boilerplate} | {signature} | {count} | " + " | ".join(figures) + " |", flush=True)


if __name__ == "__main__":
    main()
