#!/usr/bin/env python3
"""Makes the pictures of docs/report.md from the licences of data/licenses: `tests/report/test --run pictures.py`."""

import os
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from program import LICENCES, ROOT, report_of, run

TEXTS = LICENCES / "texts.jsonl.gz"
PICTURES = ROOT / "docs/report"
MOST = 60_000


def key_of(report, a, b, nearest):
    """Returns the key of the match of two documents that has about so many characters."""
    found = [match for match in report["matches"] if [report["documents"][match[side]]["id"] for side in "ab"] == [a, b]]
    return min(found, key=lambda match: abs(match["at"][1] - match["at"][0] - nearest))["key"]


def main():
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder) / "report.html"
        run("passages", TEXTS, "-o", f"{folder}/reuse/")
        run("report", f"{folder}/reuse/", "--corpus", TEXTS, "-o", page, "--title", "Text reuse in licences")
        match = key_of(report_of(page), "rule:cc-by-nc-2.0_7", "rule:cc-by-nd-3.0_2", 511)
        views = {
            "overview": ("", "main", (1000, 760), 760),
            "reading": (f"#view=match&match={match}", ".passage[aria-current]", (960, 1200), 400),
            "plot": ("#view=plot&a=license:apsl-1.2&b=license:sybase", ".plot-area", (960, 640), 560),
        }
        browser = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=["--no-sandbox"])
        for name, (fragment, selector, (width, height), most) in views.items():
            opened = browser.new_page(viewport={"width": width, "height": height})
            opened.goto(page.as_uri() + fragment)
            part = opened.locator(selector)
            part.evaluate("part => part.scrollIntoView({ block: 'start' })")
            box, file = part.bounding_box(), PICTURES / f"{name}.png"
            top = max(box["y"], 0)
            opened.screenshot(path=file, clip={"x": 0, "y": top, "width": width, "height": min(box["height"], most, height - top)})
            assert file.stat().st_size <= MOST, f"{file}: {file.stat().st_size:,} bytes"
            print(f"{file}: {file.stat().st_size:,} bytes")
            opened.close()
        browser.close()


main()
