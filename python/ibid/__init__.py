"""ibid finds text that was used again: exactly, says where it is, and does it in SQL.

Documents are paths, tables that speak Arrow (pyarrow, polars, pandas, DuckDB), datasets of Hugging Face, or dicts. Results are tables
that go to any of these.

>>> import ibid
>>> clean = ibid.dedup([{"id": 1, "text": "To be or not to be."}, {"id": 2, "text": "To be, or not to be!"}])
>>> len(clean.kept), clean.removed.columns[:2]
(1, ['id', 'kept_id'])

The functions run in a connection of their own, with 60 % of the memory of the machine and all its cores; `connect` makes one with
other limits.
"""

from __future__ import annotations

import atexit
import functools
import inspect
import os
import threading
from typing import TYPE_CHECKING, Callable, Optional, TypeVar

from . import errors
from ._connection import Connection
from ._found import (
    Checked,
    Cleaned,
    Clusters,
    Containment,
    Decontamination,
    Dedup,
    Found,
    Pairs,
    Passages,
    Review,
    Search,
    Skipped,
    Summary,
    Threads,
)
from ._ibid import __version__, end_threads
from ._table import Table
from .errors import (
    Error,
    FileError,
    InputError,
    InternalError,
    LimitError,
    MemoryLimitError,
    OptionsError,
    SqlError,
    StoreError,
)

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec

    Given = ParamSpec("Given")
    Returned = TypeVar("Returned")

__all__ = [
    "Checked",
    "Cleaned",
    "Clusters",
    "Connection",
    "Containment",
    "Decontamination",
    "Dedup",
    "Error",
    "FileError",
    "Found",
    "InputError",
    "InternalError",
    "LimitError",
    "MemoryLimitError",
    "OptionsError",
    "Pairs",
    "Passages",
    "Review",
    "Search",
    "Skipped",
    "SqlError",
    "StoreError",
    "Summary",
    "Table",
    "Threads",
    "__version__",
    "clusters",
    "connect",
    "containment",
    "decontaminate",
    "dedup",
    "errors",
    "ingest",
    "pairs",
    "passages",
    "report",
    "review",
    "search",
    "sql",
    "threads",
    "verify",
]

_default: Optional[Connection] = None
_lock = threading.Lock()


connect = Connection


def _connection() -> Connection:
    """Returns the connection that the functions of the module run in. A process that was forked makes one of its own."""
    global _default
    with _lock:
        if _default is None:
            _default = connect()
            atexit.register(_default.close)
        return _default


def _forget() -> None:
    global _default, _lock
    _default, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=end_threads, after_in_child=_forget)


def _of_default(method: Callable[Concatenate[Connection, Given], Returned]) -> Callable[Given, Returned]:
    """Returns a method of connections as a function that runs it in the default one."""

    @functools.wraps(method)
    def call(*args: Given.args, **kwargs: Given.kwargs) -> Returned:
        return method(_connection(), *args, **kwargs)

    signature = inspect.signature(method)
    call.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])  # type: ignore[attr-defined]
    call.__qualname__ = method.__name__
    return call


sql = _of_default(Connection.sql)
passages = _of_default(Connection.passages)
pairs = _of_default(Connection.pairs)
threads = _of_default(Connection.threads)
clusters = _of_default(Connection.clusters)
containment = _of_default(Connection.containment)
search = _of_default(Connection.search)
dedup = _of_default(Connection.dedup)
decontaminate = _of_default(Connection.decontaminate)
ingest = _of_default(Connection.ingest)
report = _of_default(Connection.report)
review = _of_default(Connection.review)
verify = _of_default(Connection.verify)
