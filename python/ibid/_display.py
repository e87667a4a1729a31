"""Rows as text and as HTML."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

# The characters of a cell of text that are shown.
WIDEST = 48


def shown(value: Any) -> str:
    """Returns a value as it stands in a cell. Nothing in it commands a terminal."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    text = " ".join(str(value).split())
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in text)


def text_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Returns rows as a table for a terminal."""
    cells = [[_cut(shown(value)) for value in row] for row in rows]
    header = [_cut(shown(name)) for name in columns]
    widths = [max(_width(row[place]) for row in [header, *cells]) for place in range(len(header))]
    lines = [header, ["-" * width for width in widths], *cells]
    return "\n".join("  ".join(_padded(cell, width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def html_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Returns rows as a table of HTML, in which all values are escaped."""
    head = "".join(f"<th>{html.escape(shown(name))}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td style='text-align: left'>{html.escape(shown(value))}</td>" for value in row) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cut(text: str) -> str:
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"


def _width(text: str) -> int:
    return sum(0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _width(text))
