#!/usr/bin/env python3
"""Measure `ibid passages` on whole web pages with side bars, and print docs/performance.md's tables of it.

pages.py --ibid PATH [--out DIR] [--packages DIR] [--sets documentation,generated,all] [--pages N]

documentation: the folder html/ of Debian's linux-doc-6.1, HTML pages and the texts that they were made of. `coverage` says of each page from which
document most of it comes; of the pages with a text of at least 600 characters that should be this text.
generated: N (100,000) and twice as many pages, each with a banner of 40 sentences of one of five kinds, of which each has the
page's number or title, ten sentences of its own, and in one of twenty 5 to 8 sentences of another page, with a word changed in
three of ten: how many of these are located, with which precision, and how many families the banners make.
all: the pages of 35 packages of documentation.

Packages come with `apt-get download`; nothing is installed. What is measured begins with the corpus folder.
"""
import argparse
import itertools
import json
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import corpus

MEASURE = Path(__file__).resolve().parent.parent / "tests" / "quality" / "measure.py"
HTML = "linux-doc-6.1/usr/share/doc/linux-doc-6.1/html"
OF_SOURCES = """
WITH sources AS (
    SELECT page.doc_id AS page, source.doc_id AS source, page.closest
    FROM '{out}/coverage.parquet' AS page
    JOIN '{out}/coverage.parquet' AS source
        ON '_sources/' || replace(page.doc_id, '.html', '.rst.txt') = source.doc_id
    WHERE page.doc_id LIKE '%.html' AND source.characters >= {least}
)
SELECT count(*) AS pages, count(*) FILTER (WHERE closest = source) AS closest FROM sources
"""


def run(*command):
    """Runs a program; gives its CPU seconds and the most memory that it took, in MiB."""
    process = subprocess.Popen([str(part) for part in command])
    _, status, used = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status):
        sys.exit(f"failed: {' '.join(map(str, command))}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def query(ibid, sql):
    return json.loads(subprocess.check_output([ibid, "sql", "-q", "--format", "ndjson", sql]))


def report(name, of, cpu, memory):
    print(f"| {name} | {of} | {cpu:.1f} | {memory:,.0f} |", flush=True)


def ingest(ibid, out, sources):
    """Makes the corpus unless it is there."""
    if not out.exists():
        cpu, memory = run(ibid, "ingest", "-q", *sources, "-o", out, "--on-error", "skip", "--max-record-bytes", "64MiB")
        report(out.name, "ingest", cpu, memory)
    return out


def found(ibid, of, *options):
    """The folder with the tables of a run."""
    out = of.parent / f"{of.name}-found{'-'.join(options)}"
    shutil.rmtree(out, ignore_errors=True)
    cpu, memory = run(ibid, "passages", "-q", of, "-o", f"{out}/", *options)
    report(of.name, " ".join(["passages", *options]), cpu, memory)
    return out


def documentation(ibid, out, packages, names, name, folder=""):
    """The corpus of a folder of packages."""
    texts = out / f"{name}-texts"
    if not (out / name).exists():
        shutil.rmtree(texts, ignore_errors=True)
        for package in names:
            corpus.unpack(corpus.fetch(package, packages)[0], texts / package)
    return ingest(ibid, out / name, [texts / folder])


def generate(count, path, gold):
    """Writes so many pages, and where their copies stand."""
    dice = random.Random(7)
    syllables = [c + v for c in "bcdfghklmnprstvz" for v in "aeiou"]
    words = list(dict.fromkeys("".join(dice.choices(syllables, k=dice.choice((1, 2, 2, 3, 3, 4)))) for _ in range(60_000)))
    words = words[:30_000]
    weights = list(itertools.accumulate(1 / (rank + 3) for rank in range(len(words))))
    sentence = lambda least, most: dice.choices(words, cum_weights=weights, k=dice.randint(least, most))
    written = lambda line: line[0].capitalize() + " " + " ".join(line[1:]) + "."
    banners = [[sentence(8, 16) for _ in range(40)] for _ in range(5)]
    places = [[dice.randint(1, len(line) - 1) for line in banner] for banner in banners]
    own = [[sentence(8, 20) for _ in range(10)] for _ in range(count)]
    paired = dice.sample(range(count), count // 20 * 2)
    copies = {}
    for source, page in zip(paired[: count // 20], paired[count // 20:]):
        length = dice.randint(5, 8)
        first = dice.randint(0, 10 - length)
        copied = [list(line) for line in own[source][first:first + length]]
        for line in copied:
            if dice.random() < 0.3:
                line[dice.randrange(len(line))] = dice.choice(words)
        copies[page] = (source, first, dice.randint(0, 10), copied)
    spans = []
    with open(path, "w") as pages:
        for page in range(count):
            text = ""
            for line, place in zip(banners[page % 5], places[page % 5]):
                mark = [str(page)] if dice.random() < 0.5 else [f"x{page}", *own[page][0][:2]]
                text += written(line[:place] + mark + line[place:]) + " "
            _, _, at, copied = copies.get(page, (0, 0, 0, []))
            lines = [(False, line) for line in own[page][:at]] + [(True, line) for line in copied]
            of_page = {False: [], True: []}
            for is_copy, line in lines + [(False, line) for line in own[page][at:]]:
                of_page[is_copy].append((len(text), len(text) + len(written(line))))
                text += written(line) + " "
            spans.append(of_page)
            pages.write(json.dumps({"id": f"page{page:06}", "text": text}) + "\n")
    with open(gold, "w") as rows:
        for page, (source, first, _, copied) in copies.items():
            here, there = spans[page][True], spans[source][False][first:first + len(copied)]
            rows.write(json.dumps({
                "suspicious_id": f"page{page:06}", "susp_start": here[0][0], "susp_end": here[-1][1],
                "source_id": f"page{source:06}", "src_start": there[0][0], "src_end": there[-1][1],
                "category": "planted", "kind": "passage", "obfuscation": "3 of 10 sentences",
            }) + "\n")


def corpus_of_pages(ibid, out, count):
    """The corpus of so many generated pages, with the file of the copies beside it."""
    of = out / f"generated-{count}"
    pages, gold = out / f"{of.name}.jsonl", out / f"{of.name}.gold.jsonl"
    if not of.exists():
        # A process of its own: the memory of this one would count for the programs that it starts.
        process = multiprocessing.get_context("spawn").Process(target=generate, args=(count, pages, gold))
        process.start()
        process.join()
        if process.exitcode:
            sys.exit("failed: the pages were not written")
    return ingest(ibid, of, [pages]), gold


def generated(ibid, out, count):
    of, gold = corpus_of_pages(ibid, out, count)
    name, tables = of.name, found(ibid, of)
    rows = out / "found.ndjson"
    subprocess.run([ibid, "sql", "-q", f"SELECT * FROM '{tables}/passages.parquet'", "-o", rows], check=True)
    scored = json.loads(subprocess.check_output([sys.executable, MEASURE, "--gold", gold, "--found", rows]))
    families = query(ibid, f"SELECT count(DISTINCT family_id) AS families FROM '{tables}/families.parquet'")
    print(f"\n{name}: {scored['located']} of {scored['of']} copies located, precision {scored['precision']:.3f}, "
          f"{families['families']} families\n", flush=True)


def same(one, other):
    """Fails unless two folders have the same tables."""
    for table in ("passages", "families", "coverage"):
        if (one / f"{table}.parquet").read_bytes() != (other / f"{table}.parquet").read_bytes():
            sys.exit(f"{other}/{table}.parquet has other bytes than {one}/{table}.parquet")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ibid", required=True, help="the program")
    parser.add_argument("--out", type=Path, default=Path("target/bench-pages"))
    parser.add_argument("--packages", type=Path, help="where the packages lie or go (default DIR/packages)")
    parser.add_argument("--sets", default="documentation,generated,all")
    parser.add_argument("--pages", type=int, default=100_000)
    args = parser.parse_args()
    ibid, out = Path(args.ibid).resolve(), args.out.resolve()
    packages = (args.packages or out / "packages").resolve()
    packages.mkdir(parents=True, exist_ok=True)
    out.mkdir(parents=True, exist_ok=True)
    sets = args.sets.split(",")

    print("| collection | command | CPU s | MiB |\n| --- | --- | ---: | ---: |", flush=True)
    if "documentation" in sets:
        pages = documentation(ibid, out, packages, corpus.SIZES["M"], "documentation", HTML)
        tables = found(ibid, pages)
        same(tables, found(ibid, pages, "--memory", "512MiB"))
        found(ibid, pages, "--profile", "edited")
        for least in (0, 600):
            counted = query(ibid, OF_SOURCES.format(out=tables, least=least))
            print(f"\ndocumentation: of {counted['pages']} pages with a source of {least} characters or more it is the closest "
                  f"of {counted['closest']}\n", flush=True)
    if "generated" in sets:
        for count in (args.pages, 2 * args.pages):
            generated(ibid, out, count)
    if "all" in sets:
        pages = documentation(ibid, out, packages, corpus.SIZES["L"], "all")
        found(ibid, pages)
        found(ibid, pages, "--memory", "1GiB")


if __name__ == "__main__":
    main()
