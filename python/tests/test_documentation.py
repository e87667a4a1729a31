"""The examples of docs/python give what the pages say. `IBID_BLESS=1 python/test` writes it there anew."""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import traceback
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(ROOT.glob("docs/python/*.md"))
BLOCK = re.compile(r"^```\n(>>> .*?)^```$", re.DOTALL | re.MULTILINE)


def answered(block: str, names: dict[str, Any]) -> str:
    """Returns the examples of a block with their answers."""
    lines = []
    for example in doctest.DocTestParser().get_examples(block):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            try:
                exec(compile(example.source, "<page>", "single"), names)
            except Exception as error:
                print("".join(traceback.format_exception_only(error)), end="")
        first, *rest = example.source.splitlines()
        lines += [f">>> {first}", *(f"... {line}" for line in rest), *said.getvalue().splitlines()]
    return re.sub(r"\(\d+\.\d s\)", "(0.8 s)", "\n".join(lines)) + "\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_says_what_there_is(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    text = page.read_text()
    anew = BLOCK.sub(lambda block: f"```\n{answered(block[1], names)}```", text)
    if os.environ.get("IBID_BLESS"):
        page.write_text(anew)
    else:
        assert anew == text
    assert names, "the page has examples"
