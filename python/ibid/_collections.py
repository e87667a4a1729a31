"""Documents, as methods read them, from what Python has."""

from __future__ import annotations

import datetime
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from . import _ibid

# What JSON readers hold as a whole number; others become text.
_LEAST, _MOST = -(2**63), 2**63 - 1

# The rows of a dataset that are one batch.
_ROWS = 1000


def collection(data: Any) -> _ibid.Collection:
    """Returns the documents of paths, of a table that speaks Arrow, of a dataset of Hugging Face, or of dicts."""
    if isinstance(data, _ibid.Collection):
        return data
    if isinstance(data, (str, os.PathLike)):
        return _places([data])
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return _ibid.Collection.stream(data)
    package = type(data).__module__.partition(".")[0]
    if package == "datasets":
        return _ibid.Collection.stream(_dataset(data))
    if package == "polars" and hasattr(data, "collect"):
        return _ibid.Collection.stream(data.collect())
    if isinstance(data, Mapping) or not isinstance(data, Iterable):
        raise TypeError(
            f"documents are paths, a table that has __arrow_c_stream__ (pyarrow, polars, pandas, DuckDB), "
            f"a dataset of Hugging Face, or dicts; not {type(data).__name__}"
        )
    return _items(data)


def _items(data: Iterable[Any]) -> _ibid.Collection:
    """Returns the documents of paths or of dicts, by the first of them."""
    items = iter(data)
    try:
        first = next(items)
    except StopIteration:
        raise ValueError("there are no documents: the list is empty") from None
    items = chain([first], items)
    if isinstance(first, (str, os.PathLike)):
        return _places(list(items))
    if isinstance(first, Mapping):
        return _rows(items)
    raise TypeError(f"documents are paths or dicts, and the first is of type {type(first).__name__}")


def _places(places: list[Any]) -> _ibid.Collection:
    for place in places:
        if not isinstance(place, (str, os.PathLike)):
            raise TypeError(f"documents are all paths or all dicts, and {place!r} is no path")
        if os.fspath(place) == "-":
            raise ValueError("standard input is for the program; name a file, or give rows")
    return _ibid.Collection.places([os.fspath(place) for place in places])


def _rows(rows: Iterable[Any]) -> _ibid.Collection:
    """Returns dicts as rows. They are written to a temporary file, so that there may be more than memory holds."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".jsonl") as file:
        for row in rows:
            if not isinstance(row, Mapping):
                raise TypeError(f"documents are all paths or all dicts, and {row!r} is no dict")
            values = {str(name): _value(value) for name, value in row.items()}
            file.write(json.dumps(values, ensure_ascii=False, allow_nan=False) + "\n")
        file.flush()
        return _ibid.Collection.json_lines(file.name)


def _value(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if _LEAST <= value <= _MOST else str(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(name): _value(of_name) for name, of_name in value.items()}
    if isinstance(value, (list, tuple)):
        return [_value(item) for item in value]
    return value


def _dataset(data: Any) -> Any:
    """Returns the rows of a dataset of Hugging Face as a stream of Arrow."""
    if isinstance(data, Mapping):
        splits = ", ".join(map(repr, data))
        raise TypeError(f"this is a dict of the splits {splits}; give one of them, such as dataset[{next(iter(data))!r}]")
    import pyarrow

    tables: Iterator[Any] = iter(data.with_format("arrow").iter(batch_size=_ROWS))
    try:
        first = next(tables)
    except StopIteration:
        raise ValueError("there are no documents: the dataset is empty") from None
    batches = (batch for table in chain([first], tables) for batch in table.cast(first.schema).to_batches())
    return pyarrow.RecordBatchReader.from_batches(first.schema, batches)
