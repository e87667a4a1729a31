"""Tables: rows that other libraries take as a stream of Arrow."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Callable, Optional

from . import _ibid
from ._display import html_table, text_table

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

# The rows that are shown.
_SHOWN = 10


class Table:
    """Rows of a result or of a query, which are made when they are asked for.

    Whatever speaks Arrow's C stream takes it as it is: `pyarrow.table(t)`, `polars.DataFrame(t)`, `duckdb.from_arrow(t)`.

    >>> import ibid
    >>> table = ibid.connect().sql("SELECT * FROM (VALUES (1, 'one'), (2, 'two')) AS t(number, word)")
    >>> len(table), table.columns
    (2, ['number', 'word'])
    >>> table.to_dicts()
    [{'number': 1, 'word': 'one'}, {'number': 2, 'word': 'two'}]
    """

    def __init__(self, rows: _ibid.Rows, write: Optional[Callable[[Any], int]] = None) -> None:
        self._rows = rows
        self._write = rows.write if write is None else write

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [name for name, _ in self._rows.columns]

    @property
    def types(self) -> dict[str, str]:
        """The Arrow types of the columns, by name."""
        return dict(self._rows.columns)

    def __len__(self) -> int:
        return self._rows.count()

    def __bool__(self) -> bool:
        return True

    def head(self, rows: int = 10) -> Table:
        """Returns the first rows."""
        if rows < 0:
            raise ValueError(f"rows is a whole number from 0, not {rows}")
        return Table(self._rows.limit(rows))

    def to_arrow(self) -> pyarrow.Table:
        """Returns the rows as a table of pyarrow."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> polars.DataFrame:
        """Returns the rows as a data frame of polars."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Returns the rows as a data frame of pandas, which needs pyarrow, too."""
        return self.to_arrow().to_pandas()

    def to_dicts(self) -> list[dict[str, Any]]:
        """Returns the rows as dicts, with values as JSON has them: dates and times are text."""
        columns = self.columns
        twice = sorted({name for name in columns if columns.count(name) > 1})
        if twice:
            raise ValueError(f"there are several columns named {', '.join(twice)}; name them apart with AS")
        return [dict(zip(columns, row)) for row in self._lists()]

    def write(self, path: str | os.PathLike[str]) -> int:
        """Writes the rows to a file or a URL, as Parquet, CSV or JSON lines, which its name says. Returns how many there are.

        The file is there when it is whole; until then what was there before stays.
        """
        return self._write(path)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._rows.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._rows.__arrow_c_schema__()

    def _lists(self) -> list[list[Any]]:
        return [list(json.loads(line).values()) for line in self._rows.json_lines().split("\n") if line]

    def _first(self) -> tuple[list[list[Any]], bool]:
        """Returns the rows that are shown, and whether there are more."""
        rows = self.head(_SHOWN + 1)._lists()
        return rows[:_SHOWN], len(rows) > _SHOWN

    def __repr__(self) -> str:
        rows, has_more = self._first()
        return text_table(self.columns, rows) + ("\n…" if has_more else "")

    def _repr_html_(self) -> str:
        rows, has_more = self._first()
        return html_table(self.columns, rows) + ("<p>…</p>" if has_more else "")
