#!/usr/bin/env python3
"""Compare codes of sentences with `ibid codes compare`, and print the tables of docs/codes.md.

codes.py --ibid PATH [--out DIR] [--packages DIR] [--limit N] [--only english|long|chinese] [options of ibid codes compare]

English: the sentences of Debian packages of documentation, which come with `apt-get download`, and codes learned from those of
other packages beside. Chinese: the lines of the poems of an npm package, those of the Tang and Song shi, and codes learned from the
other poems. Nothing is installed.
"""
import argparse
import json
import shutil
import subprocess
from pathlib import Path

import corpus

ENGLISH = {
    "english": ["linux-doc-6.1", "postgresql-doc-15", "perl-doc", "debian-handbook", "libreoffice-help-en-us"],
    "english-other": ["python3.11-doc", "openjdk-17-doc", "apache2-doc", "sqlite3-doc", "gnome-user-docs"],
}
# Name, title, corpus, the other one, options.
TABLES = [
    ("english", "English, all sentences", "english", "english-other", []),
    ("long", "English, different sentences of 20 words or more", "english", "english-other", ["--distinct", "--min-words", "20"]),
    ("chinese", "Chinese, lines of poems by characters", "chinese", "chinese-other", ["--tokens", "characters"]),
]


def make(ibid, out, packages, limit):
    """The corpora, unless they are there."""
    def ingest(name):
        texts = out / f"{name}.texts"
        subprocess.run([ibid, "ingest", "-q", texts, "-o", out / "part", "--on-error", "skip", "--max-record-bytes", "64MiB"],
                       check=True)
        shutil.rmtree(texts)
        (out / "part").rename(out / name)

    packages.mkdir(parents=True, exist_ok=True)
    for name, of in ENGLISH.items():
        if not (out / name).exists():
            shutil.rmtree(out / f"{name}.texts", ignore_errors=True)
            for package in of:
                corpus.unpack(corpus.fetch(package, packages)[0], out / f"{name}.texts" / package)
            ingest(name)
    if not (out / "chinese-other").exists():
        for name in ("poems", "chinese", "chinese-other"):
            shutil.rmtree(out / name, ignore_errors=True)
            shutil.rmtree(out / f"{name}.texts", ignore_errors=True)
        corpus.unpack_poems(corpus.fetch(corpus.SIZES["poems"][0], packages)[0], out / "poems")
        for name in ("chinese", "chinese-other"):
            (out / f"{name}.texts").mkdir()
            lines = 0
            with open(out / "poems/poems.jsonl") as poems, open(out / f"{name}.texts/poems.jsonl", "w") as part:
                for line in poems:
                    poem = json.loads(line)
                    if ("/quantangshi/" in poem["id"]) == (name == "chinese") and lines < limit:
                        part.write(line)
                        lines += 1 + poem["text"].count("\n")
            ingest(name)
        shutil.rmtree(out / "poems")


def table(rows, similarity):
    print(f"\nBy {similarity}, {next(row['similar'] for row in rows if row['similarity'] == similarity):,.1f} similar sentences a query:\n")
    print("| codes | bits a word | bits set | exact filter | recall 1 | recall .999 | recall .99 |\n|" + " --- |" * 7)
    for row in rows:
        if row["similarity"] == similarity:
            name = row["codes"] if row["codes"] != "bitmap" else f"bitmap of {row['bits']}"
            within = [f"{row[f'candidates_{share}']:,.1f} ({row[f'distance_{share}']})" if f"candidates_{share}" in row else ""
                      for share in (1, 999, 99)]
            print(f"| {name} | {row['per_word']} | {row['bits_set']:.1f} | {row['exact']:,.1f} | {' | '.join(within)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ibid", required=True, help="the program, an optimised build")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent.parent / "target/bench/codes")
    parser.add_argument("--packages", type=Path, help="where the packages lie or go (default OUT/packages)")
    parser.add_argument("--limit", type=int, default=1_300_000, help="about how many lines of poems (default 1,300,000)")
    parser.add_argument("--only", help="one of the tables: " + ", ".join(name for name, *_ in TABLES))
    args, options = parser.parse_known_args()
    out = args.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    ibid = str(Path(shutil.which(args.ibid)).resolve())
    make(ibid, out, (args.packages or out / "packages").resolve(), args.limit)
    for name, title, of, other, own in TABLES:
        if args.only in (None, name):
            command = [ibid, "codes", "compare", out / of, "--other", out / other, "--format", "ndjson", *own, *options]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            if done.returncode:
                raise SystemExit(done.stderr)
            rows = [json.loads(line) for line in done.stdout.splitlines()]
            print(f"\n### {title}\n\n```\n{done.stderr.strip()}\n```")
            table(rows, "jaccard")
            table(rows, "cosine")


main()
