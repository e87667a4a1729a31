"""Options have the names of the library."""

from __future__ import annotations

import datetime
import inspect

import ibid
import numpy
import pytest
from ibid import _ibid, _options, _reading

METHODS = ["passages", "pairs", "threads", "clusters", "containment", "search", "dedup", "decontaminate", "ingest"]


@pytest.mark.parametrize("method", METHODS)
def test_a_method_has_the_options_of_the_library(method: str) -> None:
    own, of_all = _ibid.options(method) or ([], [])
    given = inspect.signature(getattr(ibid, method)).parameters
    assert set(given) - {"documents", "folder", "progress", "reading"} == set(own)
    assert set(_reading.Reading.__annotations__) == set(of_all)
    for name in own:
        assert f"`{name}`" in inspect.getdoc(getattr(ibid, method)), name


def test_values_are_written_as_the_library_reads_them() -> None:
    assert _options.texts("n", 1e-7) == ["1e-07"]
    assert _options.texts("n", numpy.float32(0.5)) == ["0.5"]
    assert _options.texts("n", [True, 2, "three"]) == ["true", "2", "three"]
    assert _options.texts("n", {"title": 0.4, "body": 0.6}) == ["title=0.4", "body=0.6"]
    assert _options.texts("n", datetime.timedelta(hours=1, microseconds=5)) == ["3600000005us"]


def test_each_option_is_taken(rows: list[dict[str, object]]) -> None:
    ibid.containment(rows, time_column="year", window=datetime.timedelta(days=800), passages=True, min_words=3)
    ibid.threads(rows, field={"text": 1}, signature="shingles:1", strategy="term", max_postings=10, certify=2)
    ibid.clusters(rows, unit="document", method="lsh", bands=5, rows=2, seed=3, certify=2)
    ibid.dedup(rows, keep="newest:year", by_source="year", annotate=True)
    ibid.passages(rows, profile="edited", common="none", within_documents=True, id_column="", encoding="utf-8")
    ibid.search(rows, rows[:1], unit="sentence", gpu="off")
