"""The program `ibid`."""

from __future__ import annotations

import sys

from . import _ibid


def main() -> int:
    """Runs the program with the arguments of the process, and returns its exit code."""
    return _ibid.main(["ibid", *sys.argv[1:]])
