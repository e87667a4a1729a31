"""Documents from whatever Python has."""

from __future__ import annotations

import datetime
import gzip
import json
from pathlib import Path
from typing import Any

import datasets
import duckdb
import ibid
import numpy
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest


def removed(documents: Any, **options: Any) -> list[tuple[str, str]]:
    found = ibid.dedup(documents, **options)
    return sorted((row["id"], row["kept_id"]) for row in found.removed.to_dicts())


SOURCES = {
    "dicts": lambda rows: rows,
    "a tuple of dicts": tuple,
    "a generator of dicts": lambda rows: (row for row in rows),
    "pyarrow": pyarrow.Table.from_pylist,
    "a reader of pyarrow": lambda rows: pyarrow.Table.from_pylist(rows).to_reader(),
    "a batch of pyarrow": pyarrow.RecordBatch.from_pylist,
    "polars": polars.DataFrame,
    "polars, lazily": polars.LazyFrame,
    "pandas": pandas.DataFrame,
    "DuckDB": lambda rows: duckdb.from_arrow(pyarrow.Table.from_pylist(rows)),
    "datasets": datasets.Dataset.from_list,
    "datasets, streamed": lambda rows: datasets.Dataset.from_list(rows).to_iterable_dataset(),
    "datasets, selected": lambda rows: datasets.Dataset.from_list([rows[0], *rows]).select(range(1, len(rows) + 1)),
}


@pytest.mark.parametrize("source", SOURCES)
def test_rows_are_documents_wherever_they_come_from(source: str, rows: list[dict[str, object]]) -> None:
    assert removed(SOURCES[source](rows)) == [("copy", "article")]


@pytest.mark.parametrize(
    "kind", [pyarrow.string(), pyarrow.large_string(), pyarrow.string_view(), pyarrow.dictionary(pyarrow.int32(), pyarrow.string())]
)
def test_all_string_types_of_arrow_are_text(kind: pyarrow.DataType, rows: list[dict[str, object]]) -> None:
    table = pyarrow.Table.from_pylist(rows)
    texts = table["text"].cast(pyarrow.string())
    typed = texts.dictionary_encode() if pyarrow.types.is_dictionary(kind) else texts.cast(kind)
    assert removed(table.set_column(table.column_names.index("text"), "text", typed)) == [("copy", "article")]


def test_paths_name_files_and_folders(tmp_path: Path, rows: list[dict[str, object]]) -> None:
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "a.jsonl").write_text(lines)
    with gzip.open(tmp_path / "b.jsonl.gz", "wt") as file:
        file.write(json.dumps({"id": "again", "text": rows[3]["text"]}) + "\n")
    expected = [("again", "other"), ("copy", "article")]
    for documents in (tmp_path, str(tmp_path), f"{tmp_path}/*.jsonl*", [tmp_path / "a.jsonl", str(tmp_path / "b.jsonl.gz")]):
        assert removed(documents) == expected


def test_further_collections_are_of_any_kind(rows: list[dict[str, object]]) -> None:
    for against in (rows[:1], polars.DataFrame(rows[:1])):
        found = ibid.passages(rows[1:], against=against, min_words=10)
        assert {row["doc_b"] for row in found.passages.to_dicts()} == {"report"}


def test_columns_of_dicts_have_the_type_that_holds_all(rows: list[dict[str, object]]) -> None:
    rows[0] |= {"id": 2**63, "day": datetime.date(2020, 1, 2), "of": {"a": [1, None]}, "n": numpy.float64(0.5)}
    kept = ibid.dedup(rows).kept.to_dicts()
    assert kept[0]["id"] == str(2**63)
    assert (kept[0]["day"], kept[0]["of"], kept[0]["n"]) == ("2020-01-02", {"a": [1, None]}, 0.5)
    assert kept[1]["day"] is None


def test_what_is_no_document_is_a_type_error() -> None:
    for wrong in (1, None, {"text": "one"}, [1], [{"text": "one"}, "two"], ["one", {"text": "two"}]):
        with pytest.raises(TypeError, match="documents are"):
            ibid.pairs(wrong)
    with pytest.raises(ValueError, match="the list is empty"):
        ibid.pairs([])
    with pytest.raises(TypeError, match=r"the splits 'train', 'test'; give one of them, such as dataset\['train'\]"):
        ibid.pairs(datasets.DatasetDict(train=datasets.Dataset.from_list([]), test=datasets.Dataset.from_list([])))
    with pytest.raises(ValueError, match="standard input"):
        ibid.pairs("-")


def test_a_reader_that_fails_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    def batches() -> Any:
        yield pyarrow.RecordBatch.from_pylist([{"id": 1, "text": "one"}])
        raise RuntimeError("the network is down")

    schema = pyarrow.schema([("id", pyarrow.int64()), ("text", pyarrow.string())])
    reader = pyarrow.RecordBatchReader.from_batches(schema, batches())
    with ibid.connect(temporary_folder=tmp_path) as db, pytest.raises(ibid.Error, match="the network is down"):
        db.pairs(reader)
    assert list(tmp_path.iterdir()) == []
