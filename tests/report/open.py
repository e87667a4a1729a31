#!/usr/bin/env python3
"""Measures how long a page of 10 MiB takes to open: open.py [TIMES].

Makes variants of the licences of data/licenses, and finds the passages that they share (long texts) and their similar sentences (many matches).
Opens each report TIMES (5) times in a new browser. Prints the median time until the overview can be used, and until the list of matches is
shown, from the start of the navigation. `tests/report/test --run open.py` prepares what it needs.
"""

import os
import random
import statistics
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from program import LICENCES, query, run, write_lines

VARIANTS = 3
READY = """() => new Promise((resolve) => {
    const shown = () => document.querySelector("nav[aria-label=Views] a") && !document.querySelector("#nav").hidden
        && (location.hash === "" || document.querySelector("#app .rows > .row"));
    const look = () => shown() ? requestAnimationFrame(() => setTimeout(() => resolve(performance.now()))) : setTimeout(look, 1);
    look();
})"""


def variant(dice, text):
    """Returns a text in which one word of thirty is another."""
    words = text.split(" ")
    return " ".join(dice.choice(words) if dice.random() < 1 / 30 else word for word in words)


def make(folder):
    """Makes reports; yields their pages."""
    dice = random.Random(1)
    run("ingest", LICENCES, "-o", folder / "licences")
    documents = query(f"SELECT doc_id, text FROM '{folder}/licences/documents.parquet'")
    records = [
        {"id": f"{number}:{document['doc_id']}", "text": variant(dice, document["text"]) if number else document["text"]}
        for number in range(VARIANTS)
        for document in documents
    ]
    write_lines(folder / "variants.jsonl", records)
    run("ingest", folder / "variants.jsonl", "-o", folder / "corpus")
    for method, *options in [["passages"], ["pairs", "--unit", "sentence"]]:
        result, page = folder / f"{method}.parquet", folder / f"{method}.html"
        run(method, folder / "corpus", *options, "-o", result)
        print(run("report", result, "--corpus", folder / "corpus", "-o", page).strip())
        yield page


def opened(playwright, address):
    """Returns the milliseconds until a page of a new browser can be used."""
    browser = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=["--no-sandbox"])
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(address, wait_until="commit")
    time = page.evaluate(READY)
    browser.close()
    return time


def main():
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        for page in make(Path(folder)):
            for name, fragment in [("overview", ""), ("list of matches", "#view=matches")]:
                measured = [opened(playwright, page.as_uri() + fragment) for _ in range(times)]
                print(f"{name}: median {statistics.median(measured):,.0f} ms ({', '.join(f'{time:,.0f}' for time in measured)})")


main()
