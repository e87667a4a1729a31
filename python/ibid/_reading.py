"""The options of all methods that read documents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Optional, TypedDict, Union


class Reading(TypedDict, total=False):
    """How documents are read. None stands for the default."""

    text_column: Optional[str]
    """The column of the text, or where it is within columns: "content.body", "messages[].content", "title+body"; default "text"."""
    id_column: Optional[str]
    """The column of the id; default "doc_id" or "id"; "" numbers the records."""
    input_format: Optional[str]
    """The format of files whose names do not say it."""
    on_error: Literal["fail", "skip", "quarantine", None]
    """What to do with bad records: "fail", the default; "skip" leaves them out, counts and lists them; "quarantine" writes them to a file."""
    quarantine: Optional[str]
    """The file for bad records."""
    max_record_bytes: Union[int, str, None]
    """The most bytes of a record; default "16MiB"."""
    max_ratio: Optional[int]
    """How many bytes may come of one compressed byte; default 200."""
    encoding: Optional[str]
    """The encoding of text; default UTF-8."""
    delimiter: Optional[str]
    """The sign between two fields of CSV; default a comma, of TSV a tab."""
    escape: Optional[str]
    """The sign before a quote within quotes in CSV; default another quote."""
    sentence_language: Optional[str]
    """The language whose rules tell where sentences end; default that of each text, as it is detected."""
    namespace: Union[int, Iterable[int], None]
    """The namespaces of MediaWiki dumps that are read; default all."""
    skip_redirects: Optional[bool]
    """Leaves out the redirects of MediaWiki dumps."""
    skip_disambiguation: Optional[bool]
    """Leaves out the pages of disambiguation of MediaWiki dumps."""
    boilerplate: Literal["keep", "drop", None]
    """What to do with what is not the main content of pages of HTML: "keep", the default, or "drop"."""
