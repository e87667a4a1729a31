"""Results: tables for other libraries, files, what is shown."""

from __future__ import annotations

from pathlib import Path

import duckdb
import ibid
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest


def test_tables_go_to_other_libraries(licences: Path) -> None:
    pairs = ibid.pairs(licences).pairs
    assert len(pairs) == 866
    frames = (pairs.to_arrow(), pairs.to_polars(), pairs.to_pandas(), duckdb.from_arrow(pairs.to_arrow()).df())
    assert [type(frame) for frame in frames] == [pyarrow.Table, polars.DataFrame, pandas.DataFrame, pandas.DataFrame]
    assert [list(frame.columns) for frame in frames[1:]] == [["id_a", "id_b", "similarity"]] * 3
    assert [frame.shape[0] for frame in frames] == [866] * 4
    first = pairs.to_dicts()[0]
    assert frames[0].slice(0, 1).to_pylist() == [first]
    assert pairs.to_polars().row(0, named=True) == first
    assert pyarrow.RecordBatchReader.from_stream(pairs).read_all().num_rows == 866


def test_a_stream_gives_the_schema_that_is_asked_for(rows: list[dict[str, object]]) -> None:
    pairs = ibid.pairs(rows).pairs
    asked = pyarrow.schema([("id_a", pyarrow.large_string()), ("id_b", pyarrow.string()), ("similarity", pyarrow.float32())])
    assert pyarrow.RecordBatchReader.from_stream(pairs, asked).read_all().schema.types == asked.types


def test_a_table_outlives_what_made_it(rows: list[dict[str, object]]) -> None:
    with ibid.connect() as db:
        found = db.dedup(rows)
        kept = found.kept
        query = db.sql("SELECT 1 AS one")
    del found, db
    assert [row["id"] for row in kept.to_dicts()] == ["report", "article", "other"]
    assert query.to_dicts() == [{"one": 1}]


def test_the_kept_documents_have_the_columns_and_types_of_the_input(rows: list[dict[str, object]]) -> None:
    table = pyarrow.Table.from_pylist(rows)
    kept = ibid.dedup(table).kept.to_arrow()
    assert kept.column_names == table.column_names
    assert kept.schema.field("year").type == pyarrow.int64()
    assert kept["id"].to_pylist() == ["report", "article", "other"]


def test_results_are_written_whole(tmp_path: Path, rows: list[dict[str, object]]) -> None:
    found = ibid.passages(rows, min_words=10)
    assert found.write(tmp_path / "reuse.parquet") == {"passages": len(found.passages)}
    assert found.write(tmp_path / "reuse") == {name: len(found[name]) for name in ("passages", "families", "coverage")}
    assert pyarrow.parquet.read_table(tmp_path / "reuse/coverage.parquet").num_rows == 4
    assert found.coverage.write(tmp_path / "coverage.csv") == 4
    assert ibid.sql(f"SELECT doc_id FROM '{tmp_path}/coverage.csv'").write(str(tmp_path / "ids.jsonl")) == 4
    with pytest.raises(ibid.Error, match="name it .parquet, .csv or .ndjson"):
        found.coverage.write(tmp_path / "coverage.xlsx")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["coverage.csv", "ids.jsonl", "reuse", "reuse.parquet"]


def test_results_show_their_texts(rows: list[dict[str, object]]) -> None:
    rows[1]["text"] = f"<script>alert(1)</script>\x1b[2J {rows[0]['text']}"
    found = ibid.passages(rows, min_words=10)
    shown, in_notebook = repr(found), found._repr_html_()
    assert shown.startswith("documents 4,") and "approved the new ferry" in shown and "families: 0 rows" in shown
    assert "\x1b" not in shown and "\x1b" not in in_notebook
    assert "<script>" not in in_notebook and "approved the new ferry" in in_notebook
    assert "passages: " in in_notebook


def test_a_long_table_is_cut(licences: Path) -> None:
    pairs = ibid.pairs(licences).pairs
    assert repr(pairs).splitlines()[-1] == "…" and len(repr(pairs).splitlines()) == 13
    assert pairs._repr_html_().count("<tr>") == 11
    assert len(pairs.head(3)) == 3 and len(ibid.sql("SELECT 1 WHERE false")) == 0


def test_dedup_says_what_it_took(licences: Path) -> None:
    clean = ibid.dedup(licences, threshold=0.7)
    assert len(clean.kept) + len(clean.removed) == 628 == clean.summary.counts["documents"]
    assert 0 < clean.duplicate_ratio < 1
    least = clean.least_similar(5, characters=20).to_dicts()
    similarities = sorted(row["similarity"] for row in clean.removed.to_dicts())
    assert [row["similarity"] for row in least] == similarities[:5]
    assert all(0 < len(row["text"]) <= 20 and row["kept_text"] for row in least)


@pytest.mark.parametrize("from_rows", [False, True])
def test_another_threshold_gives_what_a_run_with_it_gives(licences: Path, from_rows: bool) -> None:
    documents = ibid.sql(f"SELECT id, text FROM '{licences}'").to_arrow().to_reader() if from_rows else licences
    again = ibid.dedup(documents, threshold=0.6).rethreshold(0.7).rethreshold(0.9)
    anew = ibid.dedup(licences, threshold=0.9)
    for table in ("kept", "removed", "pairs", "clusters"):
        columns = [name for name in again[table].columns if name in anew[table].columns]
        assert again[table].to_polars().select(columns).equals(anew[table].to_polars().select(columns)), table
    with pytest.raises(ibid.OptionsError, match="from 0.9 on"):
        again.rethreshold(0.5)
    with pytest.raises(ibid.OptionsError, match="equal texts"):
        ibid.dedup(licences, by="exact").rethreshold(0.9)


def test_what_was_skipped_is_listed(tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text('{"id": 1, "text": "one"}\n{"id": 2, "text": }\n')
    summary = ibid.pairs(file, on_error="skip").summary
    assert summary.skipped == 1
    [skipped] = summary.skipped_records
    assert (skipped.file, skipped.line, skipped.byte) == (str(file), 2, 43)
    assert "expected value" in skipped.reason
