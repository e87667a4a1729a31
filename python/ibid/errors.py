"""The exceptions that ibid raises, one of each kind.

All are an `Error`. Its text says what happened, where, why, and what to do. Where it is about a place in a file, `file`, `line`,
`byte` and `record` say which: lines and records count from 1, bytes from 0.

>>> import ibid
>>> try:
...     ibid.pairs("nowhere/")
... except ibid.InputError as error:
...     print(error)
nowhere/ does not exist; check the path
"""

from __future__ import annotations

import re
from typing import Optional, Tuple, Type

__all__ = [
    "Error",
    "FileError",
    "InputError",
    "InternalError",
    "LimitError",
    "MemoryLimitError",
    "OptionsError",
    "SqlError",
    "StoreError",
]


class Error(Exception):
    """An error of ibid; those of no other class are of a library below."""

    file: Optional[str] = None
    line: Optional[int] = None
    byte: Optional[int] = None
    record: Optional[int] = None


class InputError(Error, ValueError):
    """An input that is missing, or is not what it should be: a bad record, a missing column."""


class OptionsError(Error, ValueError):
    """Options that do not go together, or values that they cannot have."""


class LimitError(Error):
    """More than a limit that was set allows, such as of pairs."""


class MemoryLimitError(Error, MemoryError):
    """Too little memory; `ibid.connect(memory=…)` sets how much there is."""


class StoreError(Error, OSError):
    """An object store or a web server does not give or take what it should."""


class SqlError(Error):
    """SQL that cannot be parsed, planned or evaluated."""


class FileError(Error, OSError):
    """A file cannot be read or written."""


class InternalError(Error):
    """A fault of ibid; please report it."""


_KINDS: dict[str, Type[Error]] = {
    "input": InputError,
    "options": OptionsError,
    "limit": LimitError,
    "memory": MemoryLimitError,
    "store": StoreError,
    "sql": SqlError,
    "io": FileError,
    "internal": InternalError,
}


def of_kind(kind: str, text: str, place: Optional[Tuple[str, Optional[int], Optional[int], Optional[int]]]) -> Error:
    """Returns the error of a kind, with options as they are written in Python: `` `on_error = skip` `` becomes `` `on_error="skip"` ``."""
    error = _KINDS.get(kind, Error)(re.sub(r"`(\w+) = ([^`]*?)'?'?`", r'`\1="\2"`', text))
    if place is not None:
        error.file, error.line, error.byte, error.record = place
    return error
