"""Errors: a class each kind, where it is, what to type."""

from __future__ import annotations

import pickle
from pathlib import Path

import ibid
import pytest


def test_a_bad_record_has_its_place(tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text('{"id": 1, "text": "one"}\n{"id": 2, "text": }\n')
    with pytest.raises(ibid.InputError, match='on_error="skip"') as raised:
        ibid.pairs(file)
    error = raised.value
    assert (error.file, error.line, error.byte) == (str(file), 2, 43)
    assert isinstance(error, ValueError)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.line) == (str(error), 2)


def test_a_method_in_from_says_the_place_too(tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text('{"id": 1, "text": "one"}\n{"id": 2, "text": }\n')
    with pytest.raises(ibid.InputError) as raised:
        ibid.sql(f"SELECT * FROM pairs('{file}')").to_dicts()
    assert (raised.value.line, raised.value.byte) == (2, 43)


def test_an_option_that_there_is_not_is_a_type_error_with_the_nearest(rows: list[dict[str, object]]) -> None:
    with pytest.raises(TypeError, match=r"passages\(\) got an unexpected keyword argument 'min_word'. Did you mean 'min_words'\?"):
        ibid.passages(rows, min_word=20)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="threshold is a text, a number"):
        ibid.passages(rows, threshold=object())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options, said",
    [
        ({"threshold": 1.5}, "`threshold`"),
        ({"threshold": "high"}, "`threshold` is a number, not high"),
        ({"by": "cosine"}, "`by` is one of jaccard, containment, exact, not cosine"),
        ({"by": "exact", "threshold": 0.5}, "`threshold` has no effect"),
        ({"signature": "shingels:3"}, "shingels"),
        ({"max_record_bytes": "12 elephants"}, "max_record_bytes"),
    ],
)
def test_a_bad_value_is_a_value_error(options: dict[str, object], said: str, rows: list[dict[str, object]]) -> None:
    with pytest.raises(ValueError, match=said):
        ibid.dedup(rows, **options)  # type: ignore[arg-type]


def test_each_kind_has_a_class(tmp_path: Path, licences: Path) -> None:
    with pytest.raises(ibid.InputError, match="nowhere does not exist"):
        ibid.pairs(tmp_path / "nowhere")
    with pytest.raises(ibid.SqlError, match="nowhere"):
        ibid.sql("SELECT * FROM nowhere")
    with pytest.raises(ibid.SqlError):
        ibid.sql("SELEC 1")
    with pytest.raises(ibid.SqlError, match="Divide by zero"):
        ibid.sql("SELECT 1 / 0").to_dicts()
    with pytest.raises(ibid.LimitError, match="max_pairs"):
        ibid.pairs(licences, threshold=0.2, max_pairs=10)
    with pytest.raises(ibid.MemoryLimitError, match="memory"):
        ibid.connect(memory="16MiB").sql("SELECT array_agg(value) FROM range(3000000)").to_dicts()
    with pytest.raises(ibid.FileError):
        ibid.pairs(licences).write("/proc/reuse.parquet")
    with pytest.raises(ValueError, match="unknown unit 'much'; write a number and KiB"):
        ibid.connect(memory="much")
    assert issubclass(ibid.MemoryLimitError, MemoryError) and issubclass(ibid.StoreError, OSError)


def test_a_closed_connection_says_so() -> None:
    db = ibid.connect()
    db.close()
    db.close()
    with pytest.raises(RuntimeError, match="the connection is closed"):
        db.sql("SELECT 1")
