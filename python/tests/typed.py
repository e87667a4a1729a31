"""A program that mypy --strict accepts; it is not run."""

from __future__ import annotations

import datetime
from typing import Any

import ibid
import polars
import pyarrow


def passages(documents: pyarrow.Table) -> polars.DataFrame:
    found = ibid.passages(documents, against="sources/*.jsonl", min_words=20, text_column="body", on_error="skip")
    capped: int | None = found.summary.capped
    print(capped, found.coverage.columns)
    return found.passages.to_polars()


def clean(rows: list[dict[str, Any]]) -> ibid.Dedup:
    with ibid.connect(memory="4GiB", progress=False) as db:
        db.register("docs", rows)
        table: pyarrow.Table = db.sql("SELECT id FROM docs").to_arrow()
        print(table.num_rows)
        found = db.dedup(rows, by="containment", threshold=0.9, keep="oldest:year")
    ratio: float = found.duplicate_ratio
    print(ratio, found.least_similar(10).to_pandas())
    return found.rethreshold(0.95)


def stories(news: str) -> ibid.Table:
    return ibid.containment(news, time_column="published", window=datetime.timedelta(hours=72)).containments


def mistakes() -> None:
    ibid.passages("docs/", min_word=20)  # type: ignore[call-arg]
    ibid.dedup("docs/", by="cosine")  # type: ignore[arg-type]


def place() -> tuple[str | None, int | None]:
    try:
        ibid.pairs("bad.jsonl")
    except ibid.InputError as error:
        return error.file, error.line
    return None, None
