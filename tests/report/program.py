"""Runs the program, and reads what it has written."""

import json
import os
import random
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
LICENCES = ROOT / "data/licenses"

SYLLABLES = "ba be bi co cu da di fe ga gi ha ko la li mo na ni or pa pe ra ri so ta te tu va ve zo".split()


def run(*arguments, code=0, cwd=None):
    """Runs the program; returns its messages."""
    done = subprocess.run([os.environ["IBID"], *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=120)
    assert done.returncode == code, f"{arguments}: {done.returncode}: {done.stderr[-2000:]}"
    return done.stderr


def query(sql, **parameters):
    """Returns the rows of a query as dicts."""
    given = [part for name, value in parameters.items() for part in ("-p", f"{name}={value}")]
    arguments = [os.environ["IBID"], "sql", "--format", "ndjson", *given, sql]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{sql}: {done.stderr[-2000:]}"
    return [json.loads(line) for line in done.stdout.split("\n") if line]


def texts_of(corpus):
    """Returns the texts of a corpus by their ids."""
    return {row["doc_id"]: row["text"] for row in query(f"SELECT doc_id, text FROM '{corpus}/documents.parquet'")}


def report_of(page):
    """Returns the data of a page."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)
    return json.loads(found[1])


def write_lines(path, records):
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


class Prose:
    """Makes up sentences of words that nobody has written."""

    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.vocabulary = ["".join(self.dice.choices(SYLLABLES, k=self.dice.randrange(2, 5))) for _ in range(3000)]

    def words(self, count):
        return " ".join(self.dice.choices(self.vocabulary, k=count))

    def sentences(self, count):
        return " ".join(f"{self.words(self.dice.randrange(8, 18)).capitalize()}." for _ in range(count))


def with_word(text, at, word):
    """Returns a text with another word at a place."""
    words = text.split(" ")
    words[at] = word
    return " ".join(words)


class Made:
    """A result, its collection, and its page."""

    def __init__(self, folder, result, corpus, *options):
        self.folder, self.result, self.corpus = folder, result, corpus
        self.page = folder / f"{result.name}.html"
        self.said = run("report", result, "--corpus", corpus, "-o", self.page, *options)
        self.report = report_of(self.page)

    def rows(self, table, columns="*", rest=""):
        return query(f"SELECT {columns} FROM '{self.result / table}.parquet' {rest}")
