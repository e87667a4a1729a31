"""What a run is doing, on a terminal and in notebooks."""

from __future__ import annotations

import html
import importlib
import logging
import sys
import time
from types import TracebackType
from typing import Any, Optional, Type

_log = logging.getLogger("ibid")

# The seconds between two changes of what is shown.
_TICK = 0.1

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class Progress:
    """Shows the stages of a run while it is open, where somebody looks: standard error is a terminal, or a notebook runs this."""

    def __init__(self, method: str, is_wanted: bool) -> None:
        self._method = method
        self._stage = ""
        self._began = time.monotonic()
        self._shown = self._began
        self._notebook = _notebook() if is_wanted else None
        self._is_terminal = is_wanted and self._notebook is None and sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self) -> Progress:
        return self

    def __call__(self, kind: str, text: str) -> None:
        """Takes an event: a stage, a note, or a tick of the clock."""
        if kind == "note":
            _log.info(text)
        elif kind == "stage":
            self._stage = text
        now = time.monotonic()
        if now - self._shown >= _TICK:
            self._shown = now
            self._show(now - self._began)

    def _show(self, seconds: float) -> None:
        said = f"{self._method}  {seconds:.0f} s  {self._stage}"
        if self._notebook is not None:
            self._notebook(f"<progress style='width: 12em'></progress> <code>{html.escape(said)}</code>")
        elif self._is_terminal:
            frame = _FRAMES[int(seconds / _TICK) % len(_FRAMES)]
            sys.stderr.write(f"\r\x1b[K{frame} {said}"[:120])
            sys.stderr.flush()

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if self._shown == self._began:
            return
        if self._notebook is not None:
            self._notebook("")
        elif self._is_terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _notebook() -> Any:
    """Returns a function that shows HTML in the cell that runs; None where no notebook runs this."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    # It is there, since it runs this; where it is not, it cannot be type-checked.
    shows = importlib.import_module("IPython.display")
    handle = shows.display(shows.HTML(""), display_id=True)
    return lambda text: handle.update(shows.HTML(text))
