"""Reports of large real collections in a browser: `make test-long PART=report`. They get Debian documentation packages with `apt-get download`."""

import os
import random
import subprocess
import sys

import pytest

from checks import assert_slices, assert_views, by_places, sums
from program import LICENCES, ROOT, Made, query, run, texts_of, write_lines

pytestmark = pytest.mark.skipif("IBID_REPORTS" not in os.environ, reason="they take long; IBID_REPORTS=1 runs them")

PASSAGES = "SELECT doc_a, doc_b, char_a_start, char_a_end, char_b_start, char_b_end FROM '{}'"


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Returns a folder with the pages of the documentation of Linux, and a corpus of them."""
    folder = tmp_path_factory.mktemp("long")
    subprocess.run(["apt-get", "download", "-q", "linux-doc-6.1"], cwd=folder, check=True, stdout=sys.stderr)
    [package] = folder.glob("*.deb")
    subprocess.run(["dpkg-deb", "-x", package, folder / "linux"], check=True)
    run("ingest", folder / "linux/usr/share/doc/linux-doc-6.1/html/**/*.html", "-o", folder / "corpus")
    return folder


def assert_report(opener, made, file, sql, texts):
    """Opens a report: its counts are those of a table, and matches all over it show the right characters."""
    assert made.page.stat().st_size <= 10 << 20
    rows = query(sql.format(file))
    for row in rows:
        for side in "ab":
            row.setdefault(f"char_{side}_start", 0)
            row.setdefault(f"char_{side}_end", len(texts[row[f"doc_{side}"]]))
    page = opener.open(made.page)
    assert_views(page)
    assert sums(page)["matches"] == str(len(rows))
    assert made.report["totals"]["matches"] == len(rows) > 0
    matches = by_places(made.report, rows, texts)
    assert len(matches) == len(made.report["matches"])
    assert_slices(page, made.report, texts, random.Random(1).sample(matches, min(20, len(matches))))


def test_passages_of_the_documentation_of_linux(opener, folder):
    run("passages", folder / "corpus", "-o", f"{folder}/passages/")
    made = Made(folder, folder / "passages", folder / "corpus")
    assert_report(opener, made, made.result / "passages.parquet", PASSAGES, texts_of(folder / "corpus"))
    assert len(made.report["groups"]) == made.report["totals"]["groups"] > 100


def test_passages_of_a_dump_of_a_wiki(opener, folder):
    dump = [sys.executable, ROOT / "benches/dump.py", "--packages", folder / "packages", "--megabytes", "20"]
    subprocess.run([*dump, "--out", folder / "wiki.xml.bz2"], check=True)
    run("ingest", folder / "wiki.xml.bz2", "-o", folder / "wiki")
    run("passages", folder / "wiki", "-o", f"{folder}/wiki-passages/")
    made = Made(folder, folder / "wiki-passages", folder / "wiki")
    assert_report(opener, made, made.result / "passages.parquet", PASSAGES, texts_of(folder / "wiki"))


def test_duplicates_of_the_documentation_of_linux(opener, folder):
    run("dedup", folder / "corpus", "--by", "containment", "--threshold", "0.6", "-o", f"{folder}/dedup/")
    made = Made(folder, folder / "dedup", folder / "corpus")
    sql = "SELECT id AS doc_a, kept_id AS doc_b FROM '{}'"
    assert_report(opener, made, made.result / "removed.parquet", sql, texts_of(folder / "corpus"))


def test_threads(opener, folder):
    run("ingest", LICENCES, "-o", folder / "licences")
    licences = texts_of(folder / "licences")
    threads = [{"id": name, "title": text[:60], "text": text} for name, text in licences.items()]
    # The text of a thread is its fields.
    texts = {thread["id"]: f"{thread['title']}\n\n{thread['text']}" for thread in threads}
    write_lines(folder / "threads.jsonl", threads)
    run("threads", folder / "threads.jsonl", "--field", "title=0.3", "--field", "text=0.7", "-o", folder / "threads.parquet")
    made = Made(folder, folder / "threads.parquet", folder / "threads.jsonl")
    assert_report(opener, made, made.result, "SELECT id_a AS doc_a, id_b AS doc_b FROM '{}'", texts)
