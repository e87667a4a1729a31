"""Assembles a page as the program does: styles, static HTML, data, and the modules as one script."""

import base64
import hashlib
import html
import json
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "src/methods/report/page"

# As the program has them, dependencies first.
MODULES = re.findall(r'^    "(\w+)",$', (PAGE.parent / "page.rs").read_text(), re.MULTILINE)


def units(text):
    """Returns the length in UTF-16 units."""
    return len(text.encode("utf-16-le")) // 2


def script():
    """Returns the modules as one."""
    lines = []
    for name in MODULES:
        for line in (PAGE / f"{name}.js").read_text().splitlines(keepends=True):
            if not line.startswith("import "):
                lines.append(line.removeprefix("export "))
    return "".join(lines)


def _hash(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def _escape(text):
    # A parser of HTML replaces NUL.
    return html.escape(text.replace("\0", "\u2400"))


def _plain(report):
    """Returns the first matches and groups as text."""
    rows = []

    def text(document, start, end):
        for at, part in document["parts"]:
            if at <= start and end <= at + units(part):
                return part.encode("utf-16-le")[2 * (start - at) : 2 * (end - at)].decode("utf-16-le")
        return ""

    for match in report["matches"][:20]:
        sides = []
        for side, at in [(match["a"], match["at"][:2]), (match["b"], match["at"][2:])]:
            document = report["documents"][side]
            sides.append(
                f'<div class="side"><p class="ids"><bdi>{_escape(document["id"])}</bdi></p>'
                f'<p class="text" dir="auto">{_escape(text(document, *at)[:2000])}</p></div>'
            )
        rows.append(f'<li class="row"><div class="pair">{"".join(sides)}</div></li>')
    return f'<ol class="rows">{"".join(rows)}</ol>'


def page(report):
    """Returns the HTML of a report."""
    style = (PAGE / "style.css").read_text()
    modules = script()
    data = json.dumps(report, ensure_ascii=False).replace("<", "\\u003c")
    policy = (
        f"default-src 'none'; script-src {_hash(modules)}; style-src {_hash(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert not re.search("</(style|script)", style + modules, re.IGNORECASE)
    title = _escape(report["title"])
    matches = report["totals"]["matches"]
    bars = "".join(
        f'<rect class="bar" x="{20 * at}" y="{100 - height}" width="18" height="{height}"></rect>'
        for at, height in enumerate([20, 60, 90, 40, 10])
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
<header><h1>{title}</h1><p>{_escape(report["method"])}, {matches} matches</p></header>
<nav id="nav" hidden></nav>
<section id="overview">
<h2>Overview</h2>
<div class="scroll"><table><caption>Matches</caption><thead><tr><th>Source</th><th class="number">Matches</th></tr></thead>
<tbody><tr><td>all</td><td class="number">{matches}</td></tr></tbody></table></div>
<figure><svg class="chart" viewBox="0 0 100 120" role="img" aria-label="Lengths of passages">{bars}
<line class="axis" x1="0" x2="100" y1="100" y2="100"></line><text class="label" x="0" y="114">0</text></svg>
<figcaption>Lengths of passages</figcaption></figure>
</section>
<section id="plain"><h2>First matches</h2>{_plain(report)}</section>
<div id="app" hidden></div>
</main>
<script type="application/json" id="data">{data}</script>
<script type="module">{modules}</script>
</body>
</html>
"""
