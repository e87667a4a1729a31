from __future__ import annotations

from pathlib import Path

import pytest

collect_ignore = ["typed.py"]

REPORT = "The board met on Monday. It approved the new ferry terminal by nine votes to two. Work will begin in March."
ARTICLE = "Good news! The board approved the new ferry terminal by nine votes to two. Work will begin in March."


@pytest.fixture
def rows() -> list[dict[str, object]]:
    """A report, an article that borrows from it, a copy of that, and another text."""
    texts = {"report": REPORT, "article": ARTICLE, "copy": ARTICLE.upper(), "other": "Nobody lives on the island at all."}
    return [{"id": name, "text": text, "year": 2020 + number} for number, (name, text) in enumerate(texts.items())]


@pytest.fixture
def licences() -> Path:
    """The texts of 628 licences."""
    return Path(__file__).parents[2] / "data/licenses/texts.jsonl.gz"
