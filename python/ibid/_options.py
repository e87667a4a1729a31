"""Options, as the library takes them: text."""

from __future__ import annotations

import datetime
import difflib
import os
from collections.abc import Iterable, Mapping
from typing import Any

from . import _ibid
from ._collections import collection

# The options that are collections of documents.
_COLLECTIONS = frozenset({"against", "queries", "ignore"})


def taken(
    method: str, given: Mapping[str, Any]
) -> tuple[list[tuple[str, list[str]]], list[tuple[str, _ibid.Collection]]]:
    """Returns the options that are given, as text, and those that are collections. None stands for the default."""
    own, of_all = _ibid.options(method) or ([], [])
    known = [*own, *of_all]
    options: list[tuple[str, list[str]]] = []
    collections: list[tuple[str, _ibid.Collection]] = []
    for name, value in given.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            said = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(known)}"
            raise TypeError(f"{method}() got an unexpected keyword argument {name!r}. {said}")
        if value is None:
            continue
        if name in _COLLECTIONS:
            collections.append((name, collection(value)))
        else:
            options.append((name, texts(name, value)))
    return options, collections


def texts(name: str, value: Any) -> list[str]:
    """Returns a value, or those of a list, as text. A dict is a list of NAME=VALUE."""
    if isinstance(value, Mapping):
        return [f"{key}={text(name, of_key)}" for key, of_key in value.items()]
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, os.PathLike)):
        return [text(name, item) for item in value]
    return [text(name, value)]


def text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (str, os.PathLike)):
        return str(os.fspath(value))
    if isinstance(value, datetime.timedelta):
        return f"{value // datetime.timedelta(microseconds=1)}us"
    item = getattr(value, "item", None)
    if callable(item):  # a number of numpy
        return text(name, item())
    raise TypeError(f"{name} is a text, a number, True, False, or a list of these, not {type(value).__name__}")
