"""What methods find: tables, and a summary."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Optional, Union

from . import _ibid
from ._display import html_table, text_table
from ._options import taken
from ._progress import Progress
from ._table import Table

# The rows, and the characters of text of each place, that are shown.
_ROWS = 10
_CHARACTERS = 200

# The columns that say where a place is, which its text says to people.
_PLACE = re.compile(r"(byte|sent|char)(_a|_b)?_(start|end)$")

# The names of files that take one table; all else is a folder.
_FILES = (".parquet", ".csv", ".ndjson", ".jsonl")


@dataclass(frozen=True)
class Skipped:
    """A record that reading left out: where it stands, and why."""

    file: str
    line: Optional[int]
    byte: Optional[int]
    record: Optional[int]
    reason: str


@dataclass(frozen=True)
class Checked:
    """A file that was checked."""

    file: str
    """Its path or URL."""
    is_wrong: bool
    """Whether it is not what was written."""
    said: str
    """Its rows, bytes and seal, or what is wrong and why."""


@dataclass(frozen=True)
class Summary:
    """The counts of a run, and what else there is to say of it."""

    counts: dict[str, int]
    """Numbers by name, such as of `documents`."""
    capped: Optional[int]
    """How many texts were too frequent to found a pair; None for methods that cap none."""
    skipped: int
    """How many records and documents were left out."""
    skipped_records: list[Skipped] = field(repr=False)
    """The first thousand records that reading left out."""
    left_out: list[str] = field(repr=False)
    """Sentences on what was left out or passed over while reading."""
    notes: list[str] = field(repr=False)
    """Sentences on what else there is to know."""
    seconds: float
    """The seconds that it took."""

    @classmethod
    def of(cls, said: dict[str, Any]) -> Summary:
        """Returns the summary that the native module gives."""
        return cls(**{**said, "skipped_records": [Skipped(*record) for record in said["skipped_records"]]})

    def __str__(self) -> str:
        counts = dict(self.counts)
        if self.capped is not None:
            counts["capped"] = self.capped
        counts["skipped"] = self.skipped
        return ", ".join(f"{name} {count:,}" for name, count in counts.items()) + f" ({self.seconds:.1f} s)"


class Found:
    """The tables that a method has found, by name, and a summary. They exist as long as this, or a table of it.

    >>> import ibid
    >>> found = ibid.pairs([{"id": 1, "text": "To be or not to be."}, {"id": 2, "text": "To be, or not to be!"}])
    >>> found.tables
    ['pairs', 'capped']
    >>> found["pairs"].to_dicts()
    [{'id_a': '1', 'id_b': '2', 'similarity': 1.0}]
    >>> found.summary.counts["documents"]
    2
    """

    # The table that is shown; by default the first.
    _shown: Optional[str] = None

    def __init__(self, found: _ibid.Found, progress: bool) -> None:
        self._found = found
        self._progress = progress

    @property
    def tables(self) -> list[str]:
        """The names of the tables; the first is the result."""
        return self._found.tables

    def __getitem__(self, table: str) -> Table:
        if table not in self.tables:
            raise KeyError(f"there is no table {table!r}; there are {', '.join(self.tables)}")
        return Table(self._found.table(table), lambda path: self._found.write(table, os.fspath(path)))

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    @property
    def summary(self) -> Summary:
        """The counts, and what else there is to say."""
        return Summary.of(self._found.summary)

    def write(self, path: str | os.PathLike[str]) -> dict[str, int]:
        """Writes the result to a file, as Parquet, CSV or JSON lines, or all tables to a folder, here or by URL.

        The file or the folder is there when it is whole; until then what was there before stays. Returns the number of rows of
        each table.
        """
        if os.fspath(path).endswith(_FILES):
            first = self.tables[0]
            return {first: self._found.write(first, os.fspath(path))}
        return dict(self._found.write_folder(os.fspath(path)))

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: Optional[str] = None,
        max_size: Union[int, str, None] = None,
        link_template: Optional[str] = None,
        time_column: Optional[str] = None,
        progress: Optional[bool] = None,
    ) -> Summary:
        """Writes a page of HTML that shows the result: matches side by side, families, clusters, a dot plot; one file that needs nothing else.

        `path`: the file, or with a slash at its end a folder of as many pages as the result needs.
        `title`: default one for the method.
        `max_size`: the size of the file at most, such as "20MiB"; it has the best that there is room for; default 10 MiB.
        `link_template`: the address of a document, such as "https://example.org/{id}", or a column that has addresses: "{url}".
        `time_column`: places of families and clusters stand in the order of this column.

        >>> import ibid, pathlib, tempfile
        >>> found = ibid.pairs([{"id": 1, "text": "To be or not to be."}, {"id": 2, "text": "To be, or not to be!"}])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     page = pathlib.Path(folder, "pairs.html")
        ...     found.report(page).counts["shown"], page.read_text()[:15]
        (1, '<!DOCTYPE html>')
        """
        own = dict(title=title, max_size=max_size, link_template=link_template, time_column=time_column)
        options, _ = taken("report", own)
        is_shown = self._progress if progress is None else progress
        with Progress("report", is_shown) as shown:
            return Summary.of(self._found.report(os.fspath(path), options, shown))

    def excerpts(self, table: str, rows: int = _ROWS, characters: int = _CHARACTERS) -> Table:
        """Returns the first rows of a table with the texts that they are about, cut to so many characters.

        >>> import ibid
        >>> found = ibid.pairs([{"id": 1, "text": "To be or not to be."}, {"id": 2, "text": "To be, or not to be!"}])
        >>> found.excerpts("pairs", characters=5).to_dicts()[0]["text_b"]
        'To be'
        """
        self[table]
        return Table(self._found.excerpts(table, rows, characters))

    def _first(self) -> tuple[list[str], list[list[Any]]]:
        """Returns what is shown: the columns of a table without places, and its first rows with excerpts."""
        table = self._shown or self.tables[0]
        excerpts = self.excerpts(table)
        columns = [name for name in excerpts.columns if not _PLACE.search(name)]
        return columns, [[row[name] for name in columns] for row in excerpts.to_dicts()]

    def __repr__(self) -> str:
        columns, rows = self._first()
        more = [f"{name}: {len(self[name]):,} rows" for name in self.tables]
        return "\n".join([str(self.summary), text_table(columns, rows), "; ".join(more)])

    def _repr_html_(self) -> str:
        columns, rows = self._first()
        more = "; ".join(f"{name}: {len(self[name]):,} rows" for name in self.tables)
        said = "".join(f"<p>{html.escape(text)}</p>" for text in (str(self.summary), more))
        return said + html_table(columns, rows)


class Passages(Found):
    """The passages that documents share."""

    @property
    def passages(self) -> Table:
        """A row a pair of places: `doc_a`, `doc_b`, where the passage stands in either (`sent_a_start`, `sent_a_end`, `char_a_start`,
        `char_a_end`, `byte_a_start`, `byte_a_end`, and the same of `b`; ends are the first place behind it), `sentences`, `gaps`,
        `similarity`."""
        return self["passages"]

    @property
    def families(self) -> Table:
        """Text that many documents share, a row a place: `family_id`, `doc_id`, where it stands, `documents` (how many have it),
        `representative` (whether this place stands for the family), `similarity` (to that)."""
        return self["families"]

    @property
    def coverage(self) -> Table:
        """How much of each document stands elsewhere, in characters: `doc_id`, `characters`, `in_passages`, `in_families`, `reused`,
        `closest` (the document that shares most), `shared_with_closest`."""
        return self["coverage"]


class Pairs(Found):
    """Pairs of similar documents or sentences."""

    @property
    def pairs(self) -> Table:
        """A row a pair: `id_a`, `id_b`, or where the sentences stand, and `similarity`."""
        return self["pairs"]

    @property
    def capped(self) -> Table:
        """Texts in more places than `max_frequency`, which made no pairs."""
        return self["capped"]


class Threads(Found):
    """Pairs of near-duplicate threads, and the groups that they make."""

    @property
    def pairs(self) -> Table:
        """A row a pair: `id_a`, `id_b`, `score`, and the similarity of each field."""
        return self["pairs"]

    @property
    def groups(self) -> Table:
        """The threads that pairs connect, and which of each group is canonical."""
        return self["groups"]


class Clusters(Found):
    """Clusters of similar sentences or documents."""

    @property
    def clusters(self) -> Table:
        """A row a place: `cluster_id`, `doc_id`, and where it stands."""
        return self["clusters"]

    @property
    def pairs(self) -> Table:
        """Pairs of distinct texts that are similar, with the kind of copy."""
        return self["pairs"]


class Containment(Found):
    """Documents that are contained in others."""

    @property
    def containments(self) -> Table:
        """A row a pair: `contained`, `container`, `score` (the share of the first that is in the second), `score_back`, `sentences`."""
        return self["containments"]


class Search(Found):
    """Where given texts stand."""

    @property
    def hits(self) -> Table:
        """A row a hit: `query_id`, `doc_id`, `sent`, `char_start`, `char_end`, `similarity`."""
        return self["hits"]


class Cleaned(Found):
    """Documents without what was to go of them."""

    @property
    def kept(self) -> Table:
        """The documents that stay, in the order and with the columns of the input."""
        return self["kept"]


class Decontamination(Cleaned):
    """Documents without what holds an item of an evaluation."""

    _shown = "hits"

    @property
    def hits(self) -> Table:
        """What goes, and why, a row a place: `id`, `item_id`, `rule`, `words`, `share`, `items`, and where it stands in both."""
        return self["hits"]

    @property
    def items(self) -> Table:
        """A row an item: how many `words` it has, whether it was looked for, in how many `documents` it was found, and which `share` of it."""
        return self["items"]


class Dedup(Cleaned):
    """Documents without duplicates, and for each that went the one that stays."""

    _shown = "removed"

    @property
    def removed(self) -> Table:
        """What went, a row a document or piece: `id`, `kept_id` (of the one that stays for it), `similarity`, `containment`,
        `containment_back`, `rule`; of pieces also where they stand."""
        return self["removed"]

    @property
    def pairs(self) -> Table:
        """Each two that match."""
        return self["pairs"]

    @property
    def clusters(self) -> Table:
        """Each that stays for others, with these."""
        return self["clusters"]

    @property
    def duplicate_ratio(self) -> float:
        """The share of the characters that went, from 0 to 1.

        >>> import ibid
        >>> notes = [{"id": number, "text": "The board met on Monday."} for number in range(4)]
        >>> ibid.dedup(notes).duplicate_ratio
        0.75
        """
        counts = self.summary.counts
        return counts["characters removed"] / counts["characters"] if counts["characters"] else 0.0

    def least_similar(self, rows: int = _ROWS, characters: int = _CHARACTERS) -> Table:
        """Returns what went for a text that is least like it, with both texts: the first to look at before a threshold is trusted."""
        return Table(self._found.least_similar(rows, characters))

    def rethreshold(self, threshold: float, *, progress: Optional[bool] = None) -> Dedup:
        """Decides anew with another threshold, from the pairs that were found; it is not below the one that they were found with.

        >>> import ibid
        >>> notes = [{"id": 1, "text": "The board met on Monday at nine."}, {"id": 2, "text": "The board met on Monday at ten."}]
        >>> clean = ibid.dedup(notes, signature="shingles:1", threshold=0.5)
        >>> len(clean.removed), len(clean.rethreshold(0.9).removed)
        (1, 0)
        """
        is_shown = self._progress if progress is None else progress
        with Progress("dedup", is_shown) as shown:
            return Dedup(self._found.rethreshold(threshold, shown), self._progress)


class Review(Found):
    """Verdicts that people gave in a report."""

    @property
    def verdicts(self) -> Table:
        """The last verdict of each row of a result: `result`, `key`, `verdict`, `note`, `method`, `similarity`, `at`, `verdicts` (how many
        different ones were given)."""
        return self["verdicts"]

    @property
    def scores(self) -> Table:
        """Of the rows at each similarity and above how many were `judged` and are `right`: `threshold`, `judged`, `right`, `precision`, and
        the interval `low` to `high` that has it with 95 % certainty, if what was judged is a random sample."""
        return self["scores"]

    def _first(self) -> tuple[list[str], list[list[Any]]]:
        scores = self.scores
        return scores.columns, [list(row.values()) for row in scores.head(_ROWS).to_dicts()]
