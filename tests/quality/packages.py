"""The descriptions of Debian's packages as threads, and labelled pairs of them.

packages.py --out DIR

Gets the lists of packages with `apt-get update` into a folder of its own. Writes threads.jsonl: id (the name of the package),
title (its short description), description (the first paragraph of the long one), answer (the other paragraphs), source; and
labels.jsonl: id_a, id_b, label, of pairs of packages. Two packages that are built from one source are duplicates (their
descriptions mostly have been copied and edited); a package and the one whose title comes next in the alphabet, of another
source, are none, nor are two that were drawn at random.
"""
import argparse
import json
import random
import re
import subprocess
from pathlib import Path

PAIRS = 4000


def packages(lists):
    """The stanzas of all lists, with their long descriptions."""
    lists.joinpath("partial").mkdir(parents=True, exist_ok=True)
    options = ["-o", "Acquire::Languages=en", "-o", f"Dir::State::lists={lists}"]
    if not list(lists.glob("*Translation-en*")):
        subprocess.run(["apt-get", "update", "-q", *options], check=True, stdout=subprocess.DEVNULL)
    long, stanzas = {}, {}
    for kind in ("Translation-en", "Packages"):
        for path in sorted(lists.glob(f"*{kind}*")):
            text = subprocess.run(["/usr/lib/apt/apt-helper", "cat-file", path], check=True, stdout=subprocess.PIPE).stdout
            for stanza in text.decode().split("\n\n"):
                fields = dict(re.findall(r"^([\w-]+): ?(.*(?:\n .*)*)", stanza, re.MULTILINE))
                if "Description-en" in fields:
                    long[fields["Description-md5"]] = fields["Description-en"]
                elif "Package" in fields:
                    stanzas[fields["Package"]] = fields
    for name, fields in sorted(stanzas.items()):
        title, *rest = long.get(fields.get("Description-md5"), "").split("\n")
        paragraphs = [" ".join(p.split()) for p in re.split(r"^ \.$", "\n".join(rest), flags=re.MULTILINE)]
        source = fields.get("Source", name).split(" ")[0]
        yield dict(id=name, title=title, description=paragraphs[0], answer=" ".join(paragraphs[1:]), source=source)


def labels(threads):
    dice = random.Random(1)
    of_source = {}
    for thread in threads:
        of_source.setdefault(thread["source"], []).append(thread)
    built = [family for family in of_source.values() if len(family) > 1]
    ordered = sorted(threads, key=lambda thread: (thread["title"].lower(), thread["id"]))
    near = [(a, b) for a, b in zip(ordered, ordered[1:]) if a["source"] != b["source"]]
    for family in dice.sample(built, PAIRS // 2):
        a, b = sorted(dice.sample(family, 2), key=lambda thread: thread["id"])
        yield a, b, True
    for a, b in dice.sample(near, PAIRS // 4):
        yield *sorted((a, b), key=lambda thread: thread["id"]), False
    for _ in range(PAIRS // 4):
        a, b = sorted(dice.sample(threads, 2), key=lambda thread: thread["id"])
        yield a, b, a["source"] == b["source"]


def write(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        for row in rows:
            print(json.dumps(row, ensure_ascii=False), file=file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    threads = list(packages((args.out / "lists").resolve()))
    write(args.out / "threads.jsonl", threads)
    write(args.out / "labels.jsonl", (dict(id_a=a["id"], id_b=b["id"], label=label) for a, b, label in labels(threads)))


main()
