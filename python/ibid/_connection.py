"""Connections: an engine with its limits, its methods, and SQL."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Optional, Type, TypeVar, Union

from . import _ibid
from ._collections import collection
from ._found import (
    Checked,
    Clusters,
    Containment,
    Decontamination,
    Dedup,
    Found,
    Pairs,
    Passages,
    Review,
    Search,
    Summary,
    Threads,
)
from ._options import taken
from ._progress import Progress
from ._table import Table

if TYPE_CHECKING:
    from typing_extensions import TypeAlias, Unpack

    from ._reading import Reading

# Anything that is read as documents: paths, tables that speak Arrow, datasets of Hugging Face, dicts.
Documents: TypeAlias = Any

Result = TypeVar("Result", bound=Found)


class Connection:
    """An engine: it runs methods and SQL within its limits. `ibid.connect` makes one.

    Two connections of a process have limits, temporary files and keys of their own. A connection may be used from several threads.

    `memory`: the bytes that it may take, or "4GiB"; operators reserve half of it and go to disk for more. Default: 60 % of what the
    machine or its control group has.
    `threads`: default one a core.
    `temporary_folder`: the folder for temporary files; default that of the system.
    `endpoint`, `region`, `anonymous`, `allow_http`, `keys` (an id and a secret), `session_token`: how S3 is reached; default as the
    environment says.
    `progress`: shows what runs do, on a terminal and in notebooks.

    >>> import ibid
    >>> with ibid.connect(memory="1GiB", threads=2) as db:
    ...     db.register("letters", [{"id": 1, "text": "Dear all"}, {"id": 2, "text": "dear all!"}])
    ...     db.sql("SELECT count(*) AS letters FROM letters").to_dicts()
    [{'letters': 2}]
    >>> ibid.connect(memory="1GiB").memory
    1073741824
    """

    def __init__(
        self,
        *,
        memory: Union[int, str, None] = None,
        threads: Optional[int] = None,
        temporary_folder: Union[str, os.PathLike[str], None] = None,
        endpoint: Optional[str] = None,
        region: Optional[str] = None,
        anonymous: bool = False,
        allow_http: Optional[bool] = None,
        keys: Optional[tuple[str, str]] = None,
        session_token: Optional[str] = None,
        progress: bool = True,
    ) -> None:
        self._progress = progress
        self._connection = _ibid.Connection(
            None if memory is None else str(memory),
            threads,
            None if temporary_folder is None else os.fspath(temporary_folder),
            endpoint,
            region,
            anonymous,
            allow_http,
            keys,
            session_token,
        )

    @property
    def memory(self) -> Optional[int]:
        """The bytes of memory that it may take; None where there is no limit, since the system does not tell what there is."""
        return self._connection.memory

    def sql(self, query: str) -> Table:
        """Plans a query, whose rows are made when they are asked for, or runs another statement, which has no rows.

        Files and folders stand in FROM between single quotes, methods as functions with options by name, and tables that were
        registered by their names. docs/sql.md of ibid has the functions.

        Raises `SqlError` for what is no SQL or cannot be planned.

        >>> import ibid
        >>> ibid.sql("SELECT jaccard([1, 2, 3], [2, 3, 4]) AS similarity").to_dicts()
        [{'similarity': 0.5}]
        """
        return Table(self._connection.sql(query))

    def register(self, name: str, rows: Documents) -> None:
        """Makes rows a table for SQL, in the place of one that has its name: a table that speaks Arrow, a dataset of Hugging Face, dicts.

        They are written to the temporary folder. Files need no name: FROM takes them.

        >>> import ibid
        >>> db = ibid.connect()
        >>> db.register("sets", [{"id": 1, "set": [1, 2, 3]}, {"id": 2, "set": [1, 2, 3, 4]}])
        >>> db.sql("SELECT a.id, b.id AS other FROM sets AS a JOIN sets AS b ON jaccard(a.set, b.set) >= 0.7 AND a.id < b.id").to_dicts()
        [{'id': 1, 'other': 2}]
        """
        self._connection.register(name, collection(rows))

    def ingest(
        self,
        documents: Documents,
        folder: Union[str, os.PathLike[str]],
        *,
        progress: Optional[bool] = None,
        **reading: Unpack[Reading],
    ) -> Summary:
        """Turns documents into a corpus: a folder with them and their sentences as Parquet, here or by URL, which all methods read.

        It takes the place of a corpus, and of nothing else; until it is whole, what was there before stays.

        >>> import ibid, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ibid.ingest([{"id": 1, "text": "It was late. Nobody spoke."}], f"{folder}/corpus").counts["sentences"]
        ...     [checked.is_wrong for checked in ibid.verify(f"{folder}/corpus")]
        2
        [False, False, False]
        """
        options, _ = taken("ingest", reading)
        is_shown = self._progress if progress is None else progress
        with Progress("ingest", is_shown) as shown:
            return Summary.of(self._connection.ingest(collection(documents), os.fspath(folder), options, shown))

    def report(
        self,
        result: Union[str, os.PathLike[str]],
        path: Union[str, os.PathLike[str]],
        *,
        corpus: Documents,
        against: Optional[Documents] = None,
        title: Optional[str] = None,
        max_size: Union[int, str, None] = None,
        link_template: Optional[str] = None,
        time_column: Optional[str] = None,
        progress: Optional[bool] = None,
        **reading: Unpack[Reading],
    ) -> Summary:
        """Writes a page of HTML of a result that was written, as `Found.report` does.

        `result`: the Parquet file, or the folder of all tables.
        `corpus`: the documents of which it was made, read in the same way; others are an error.
        `against`: the other documents, where it was made of two collections.
        """
        own = dict(title=title, max_size=max_size, link_template=link_template, time_column=time_column)
        options, _ = taken("report", {**own, **reading})
        other = None if against is None else collection(against)
        is_shown = self._progress if progress is None else progress
        with Progress("report", is_shown) as shown:
            return Summary.of(
                self._connection.report(os.fspath(result), os.fspath(path), collection(corpus), other, options, shown)
            )

    def review(
        self,
        *verdicts: Union[str, os.PathLike[str]],
        precision: Optional[float] = None,
        right: Optional[Iterable[str]] = None,
        progress: Optional[bool] = None,
    ) -> Review:
        """Reads verdicts that people gave in a report and saved, and scores the result by them.

        `precision`: asks from which threshold on this precision is reached, which the notes of the summary say.
        `right`: the verdicts by which a row is right, of "same", "quotation", "boilerplate", "false", "unsure"; default the first two.

        >>> import ibid, pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder, "verdicts.ndjson")
        ...     _ = file.write_text('{"result": "9f", "key": "1", "verdict": "same", "similarity": 0.9}')
        ...     ibid.review(file).scores.to_dicts()[0]["precision"]
        1.0
        """
        options, _ = taken("review", dict(precision=precision, right=right))
        is_shown = self._progress if progress is None else progress
        with Progress("review", is_shown) as shown:
            return Review(self._connection.review(collection(list(verdicts)), options, shown), is_shown)

    def verify(self, *paths: Union[str, os.PathLike[str]]) -> list[Checked]:
        """Checks that results, corpora and indexes are what was written: each byte of each file."""
        return [Checked(*checked) for checked in self._connection.verify([os.fspath(path) for path in paths])]

    def close(self) -> None:
        """Ends the connection. Its temporary files go with the last result of it."""
        self._connection.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def _found(
        self,
        result: Type[Result],
        method: str,
        documents: Documents,
        progress: Optional[bool],
        own: Mapping[str, Any],
        reading: Mapping[str, Any],
    ) -> Result:
        options, collections = taken(method, {**own, **reading})
        is_shown = self._progress if progress is None else progress
        with Progress(method, is_shown) as shown:
            found = self._connection.method(method, collection(documents), options, collections, shown)
        return result(found, is_shown)

    def passages(
        self,
        documents: Documents,
        *,
        against: Optional[Documents] = None,
        profile: Literal["verbatim", "edited", None] = None,
        threshold: Optional[float] = None,
        min_words: Optional[int] = None,
        min_sentences: Optional[int] = None,
        max_gap: Optional[int] = None,
        common: Union[int, Literal["none"], None] = None,
        ignore: Optional[Documents] = None,
        same_ids: Optional[bool] = None,
        within_documents: Optional[bool] = None,
        max_pairs: Optional[int] = None,
        progress: Optional[bool] = None,
        **reading: Unpack[Reading],
    ) -> Passages:
        """Finds the passages that documents share, and where they stand.

        `against`: compares with these documents instead of with one another; the second of each pair is of them.
        `profile`: "verbatim" for copies with a word changed here and there, the default, or "edited" for copies whose words were
        replaced, left out, added and put in another order.
        `threshold`: the least similarity of the two sides, above 0 and up to 1; default 0.8, edited 0.25.
        `min_words`: the least number of words of both sides, for the profile verbatim; default 15.
        `min_sentences`: the least number of sentences that a passage touches on both sides; default 1.
        `max_gap`: how many sentences a passage may skip, for the profile edited; default 4.
        `common`: text in more documents than this makes families, and no passages; "none" for no text; default 20.
        `ignore`: text of these documents, such as a form, makes families, and no passages, for the profile verbatim.
        `same_ids`: takes documents of both collections with the same id and text for the same.
        `within_documents`: looks within documents, too.
        `max_pairs`: more pairs of places are an error; default 50,000,000.

        >>> import ibid
        >>> report = "The board met. It approved the new ferry terminal by nine votes to two. Work will begin in March."
        >>> article = "Good news! The board approved the new ferry terminal by nine votes to two. Work will begin in March."
        >>> found = ibid.passages([{"id": "report", "text": report}, {"id": "article", "text": article}], min_words=10)
        >>> [(row["doc_a"], row["char_a_start"], row["char_a_end"]) for row in found.passages.to_dicts()]
        [('article', 21, 100)]
        """
        own = dict(
            against=against,
            profile=profile,
            threshold=threshold,
            min_words=min_words,
            min_sentences=min_sentences,
            max_gap=max_gap,
            common=common,
            ignore=ignore,
            same_ids=same_ids,
            within_documents=within_documents,
            max_pairs=max_pairs,
        )
        return self._found(Passages, "passages", documents, progress, own, reading)

    def pairs(
        self,
        documents: Documents,
        *,
        against: Optional[Documents] = None,
        unit: Literal["document", "sentence", None] = None,
        signature: Optional[str] = None,
        threshold: Optional[float] = None,
        max_frequency: Optional[int] = None,
        same_ids: Optional[bool] = None,
        within_documents: Optional[bool] = None,
        max_pairs: Optional[int] = None,
        progress: Optional[bool] = None,
        **reading: Unpack[Reading],
    ) -> Pairs:
        """Finds all pairs of documents or sentences whose sets are similar.

        `against`: compares with these documents instead of with one another.
        `unit`: what is compared, "document", the default, or "sentence".
        `signature`: how a text becomes a set, such as "shingles:3", the default.
        `threshold`: the least Jaccard similarity, above 0 and up to 1; default 0.8.
        `max_frequency`: text in more places founds no pair and is listed as capped; default 1000.
        `same_ids`: takes documents of both collections with the same id and text for the same.
        `within_documents`: compares sentences of one document, too.
        `max_pairs`: more pairs of places are an error; default 50,000,000.

        >>> import ibid
        >>> letters = [{"id": 1, "text": "The meeting is on Monday."}, {"id": 2, "text": "The meeting is on Friday."}]
        >>> ibid.pairs(letters, signature="shingles:1", threshold=0.5).pairs.to_dicts()
        [{'id_a': '1', 'id_b': '2', 'similarity': 0.6666666666666666}]
        """
        own = dict(
            against=against,
            unit=unit,
            signature=signature,
            threshold=threshold,
            max_frequency=max_frequency,
            same_ids=same_ids,
            within_documents=within_documents,
            max_pairs=max_pairs,
        )
        return self._found(Pairs, "pairs", documents, progress, own, reading)

    def threads(
        self,
        documents: Documents,
        *,
        field: Union[Mapping[str, float], Iterable[str], str, None] = None,
        signature: Union[Iterable[str], str, None] = None,
        threshold: Optional[float] = None,
        strategy: Literal["doc", "term", None] = None,
        max_postings: Optional[int] = None,
        certify: Optional[int] = None,
        weights: Literal["fit", None] = None,
        labels: Union[str, os.PathLike[str], None] = None,
        label: Optional[str] = None,
        starts: Optional[int] = None,
        seed: Optional[int] = None,
        canonical: Optional[str] = None,
        against: Optional[Documents] = None,
        same_ids: Optional[bool] = None,
        max_pairs: Optional[int] = None,
        progress: Optional[bool] = None,
        **reading: Unpack[Reading],
    ) -> Threads:
        """Finds near-duplicate threads, by the weighted mean of the similarities of several fields, and the groups that they make.

        `field`: the columns that are compared, and their weights: `{"title": 0.4, "body": 0.6}`.
        `signature`: how a text becomes a set, for all fields, or "FIELD=SIGNATURE" for one; default "shingles:3".
        `threshold`: the least score, above 0 and up to 1; default 0.5.
        `strategy`: "doc" finds all pairs, the default; "term" goes by lists of postings of at most `max_postings`, and looks at all
        pairs of `certify` threads to tell what was not found.
        `weights`: "fit" fits the weights to `labels`, a file of labelled pairs with the column `label`, from so many `starts` with
        this `seed`.
        `canonical`: which of a group to keep: "longest", the default, "votes=COLUMN" or "oldest=COLUMN".
        `against`, `same_ids`, `max_pairs`: as for `pairs`.

        >>> import ibid
        >>> threads = [
        ...     {"id": 1, "title": "Cannot install", "body": "The installer says that the disk is full."},
        ...     {"id": 2, "title": "Cannot install it", "body": "The installer says that the disk is full."},
        ... ]
        >>> found = ibid.threads(threads, field={"title": 0.3, "body": 0.7})
        >>> [(row["id_a"], row["id_b"]) for row in found.pairs.to_dicts()]
        [('1', '2')]
        """
        own = dict(
            field=field,
            signature=signature,
            threshold=threshold,
            strategy=strategy,
            max_postings=max_postings,
            certify=certify,
            weights=weights,
            labels=labels,
            label=label,
            starts=starts,
            seed=seed,
            canonical=canonical,
            against=against,
            same_ids=same_ids,
            max_pairs=max_pairs,
        )
        return self._found(Threads, "threads", documents, progress, own, reading)

    def clusters(
        self,
        documents: Documents,
        *,
        unit: Literal["document", "sentence", None] = None,
        signature: Optional[str] = None,
        method: Literal["lsh", "exact", None] = None,
        threshold: Optional[float] = None,
        bands: Optional[int] = None,
        rows: Optional[int] = None,
        seed: Optional[int] = None,
        max_bucket: Optional[int] = None,
        max_edit: Optional[float] = None,
        cohesion: Optional[float] = None,
        certify: Optional[int] = None,
        min_characters: Optional[int] = None,
        max_characters: Optional[int] = None,
        max_frequency: Optional[int] = None,
        max_pairs: Optional[int] = None,
        progress: Optional[bool] = None,
        **reading: Unpack[Reading],
    ) -> Clusters:
        """Finds clusters of similar sentences, what kind of copies they are, and the documents that share them.

        `unit`: what is compared, "sentence", the default, or "document".
        `signature`: how a text becomes a set; default "characters:10".
        `method`: "lsh" finds most pairs by minhashes, the default; "exact" finds all.
        `threshold`: the least Jaccard similarity; default 0.7.
        `bands`, `rows`, `seed`, `max_bucket`: the minhashes of lsh; default 10, 8, 0, 1000.
        `max_edit`: the largest normalised edit distance of a pair; default any.
        `cohesion`: the least similarity to the middle of a cluster; default any.
        `certify`: looks for all pairs of so many texts, and says how many were found.
        `min_characters`, `max_characters`: the lengths of text that are compared; default 20, and 5000 for sentences.
        `max_frequency`: text in more places makes no pairs of documents; default 1000.
        `max_pairs`: more pairs of places are an error; default 50,000,000.

        >>> import ibid
        >>> towns = [
        ...     {"id": "a", "text": "The town has 12,400 inhabitants. It lies on the coast."},
        ...     {"id": "b", "text": "The town has 12,600 inhabitants. It lies inland."},
        ... ]
        >>> [row["doc_id"] for row in ibid.clusters(towns, threshold=0.3, method="exact").clusters.to_dicts()]
        ['a', 'b']
        """
        own = dict(
            unit=unit,
            signature=signature,
            method=method,
            threshold=threshold,
            bands=bands,
            rows=rows,
            seed=seed,
            max_bucket=max_bucket,
            max_edit=max_edit,
            cohesion=cohesion,
            certify=certify,
            min_characters=min_characters,
            max_characters=max_characters,
            max_frequency=max_frequency,
            max_pairs=max_pairs,
        )
        return self._found(Clusters, "clusters", documents, progress, own, reading)

    def containment(
        self,
        documents: Documents,
        *,
        against: Optional[Documents] = None,
        method: Literal["sets", "codet", "simhash", None] = None,
        unit: Literal["document", "sentence", None] = None,
        signature: Optional[str] = None,
        threshold: Optional[float] = None,
        sentence_threshold: Optional[float] = None,
        depth: Optional[int] = None,
        suffixes: Optional[int] = None,
        unsorted: Optional[bool] = None,
        distance: Optional[int] = None,
        reference: Union[str, os.PathLike[str], None] = None,
        language: Optional[str] = None,
        without_stop_words: Optional[bool] = None,
        truncate: Optional[int] = None,
        time_column: Optional[str] = None,
        window: Union[str, datetime.timedelta, None] = None,
        later: Optional[bool] = None,
        same_ids: Optional[bool] = None,
        passages: Optional[bool] = None,
        min_words: Optional[int] = None,
        max_frequency: Optional[int] = None,
        max_pairs: Optional[int] = None,
        progress: Optional[bool] = None,
        **reading: Unpack[Reading],
    ) -> Containment:
        """Finds documents that are contained in others, such as stories within earlier stories.

        `against`: looks for the containers among these documents instead.
        `method`: "sets", the default, "codet" (a tree of the rarest words of sentences) or "simhash".
        `unit`: for sets, whether the set of a document is looked for, the default, or that of each sentence.
        `signature`: how a text becomes a set; default "shingles:4".
        `threshold`: the least share of the first that is in the second; default 0.6.
        `sentence_threshold`: the least share of a sentence in one sentence of the container; default 0.8.
        `depth`, `suffixes`, `unsorted`: the tree of codet. `distance`: the bits that codes may differ in, for simhash.
        `reference`: a file of text in which words are counted. `language`, `without_stop_words`, `truncate`: what counts as a word.
        `time_column`: the container has come before; `window` says how long before, such as "72h" or a timedelta; `later` looks for
        containers that came after, too.
        `passages`: says where, in passages of at least `min_words`; words in more places than `max_frequency` found none.
        `same_ids`: takes documents of both collections with the same id and text for the same.
        `max_pairs`: more pairs of places are an error; default 50,000,000.

        >>> import ibid
        >>> short = "The board approved the new ferry terminal by nine votes to two."
        >>> news = [{"id": "short", "text": short}, {"id": "long", "text": f"It rained. {short} Then it had lunch."}]
        >>> [(row["contained"], row["container"]) for row in ibid.containment(news, threshold=0.9).containments.to_dicts()]
        [('short', 'long')]
        """
        own = dict(
            against=against,
            method=method,
            unit=unit,
            signature=signature,
            threshold=threshold,
            sentence_threshold=sentence_threshold,
            depth=depth,
            suffixes=suffixes,
            unsorted=unsorted,
            distance=distance,
            reference=reference,
            language=language,
            without_stop_words=without_stop_words,
            truncate=truncate,
            time_column=time_column,
            window=window,
            later=later,
            same_ids=same_ids,
            passages=passages,
            min_words=min_words,
            max_frequency=max_frequency,
            max_pairs=max_pairs,
        )
        return self._found(Containment, "containment", documents, progress, own, reading)

    def search(
        self,
        documents: Documents,
        queries: Documents,
        *,
        unit: Literal["document", "sentence", None] = None,
        signature: Optional[str] = None,
        threshold: Optional[float] = None,
        codes: Union[str, os.PathLike[str], None] = None,
        distance: Optional[int] = None,
        gpu: Literal["auto", "on", "off", None] = None,
        progress: Optional[bool] = None,
        **reading: Unpack[Reading],
    ) -> Search:
        """Finds the sentences of documents that are similar to given texts, and the passages that are similar to longer ones.

        `queries`: the texts to look for, each as a whole.
        `unit`: what is searched, "sentence", the default, or "document".
        `signature`: how a text becomes a set; default "shingles:1".
        `threshold`: the least Jaccard similarity; default 0.8.
        `codes`: a file of codes of words; only texts whose codes differ in at most `distance` bits are looked at, on a `gpu` or not.

        >>> import ibid
        >>> plays = [{"id": "hamlet", "text": "Words, words, words. To be or not to be, that is the question."}]
        >>> found = ibid.search(plays, [{"id": 1, "text": "to be, or not to be: that is the question"}])
        >>> [(row["doc_id"], row["char_start"], row["char_end"]) for row in found.hits.to_dicts()]
        [('hamlet', 21, 62)]
        """
        own = dict(
            queries=queries,
            unit=unit,
            signature=signature,
            threshold=threshold,
            codes=codes,
            distance=distance,
            gpu=gpu,
        )
        return self._found(Search, "search", documents, progress, own, reading)

    def dedup(
        self,
        documents: Documents,
        *,
        unit: Literal["document", "paragraph", "sentence", "passage", None] = None,
        by: Literal["jaccard", "containment", "exact", None] = None,
        signature: Optional[str] = None,
        threshold: Optional[float] = None,
        min_words: Optional[int] = None,
        method: Literal["exact", "lsh", "auto", None] = None,
        bands: Optional[int] = None,
        rows: Optional[int] = None,
        seed: Optional[int] = None,
        max_bucket: Optional[int] = None,
        sample: Optional[int] = None,
        keep: Optional[str] = None,
        by_source: Optional[str] = None,
        max_pairs: Optional[int] = None,
        format: Literal["parquet", "jsonl", "jsonl.gz", "jsonl.zst", "csv", None] = None,
        rows_per_file: Optional[int] = None,
        ids_only: Optional[bool] = None,
        annotate: Optional[bool] = None,
        rethreshold: Optional[float] = None,
        progress: Optional[bool] = None,
        **reading: Unpack[Reading],
    ) -> Dedup:
        """Removes duplicates, and says for each that goes which one stays for it.

        `unit`: what goes or stays: "document", the default, "paragraph", "sentence" or "passage".
        `by`: two match by "jaccard", the default, "containment" or "exact".
        `signature`: how a text becomes a set; default "shingles:5".
        `threshold`: from which similarity, or share, on two match; default 0.8.
        `min_words`: the words in a row that are a passage where they stand twice; default 50.
        `method`: "exact" finds all matches, the default, "lsh" most by minhashes, "auto" takes lsh where there are too many.
        `bands`, `rows`, `seed`, `max_bucket`, `sample`: the minhashes of lsh, and of how many texts all matches are looked for.
        `keep`: which of several stays: "first", the default, "longest", "oldest:COLUMN", "newest:COLUMN", "highest:COLUMN" or
        "priority:COLUMN=a,b,c".
        `by_source`: counts what is lost by the values of this column.
        `max_pairs`: more pairs of distinct texts that match are an error; default 50,000,000.
        `format`, `rows_per_file`: how the documents that stay are written to a folder.
        `ids_only`: gives of the documents that stay their ids alone. `annotate`: leaves all, and says in columns what would go.
        `rethreshold`: decides anew with this threshold what an earlier dedup decided: `documents` is the folder that it wrote.

        >>> import ibid
        >>> notes = [{"id": 1, "text": "The board met on Monday."}, {"id": 2, "text": "the board met, on Monday"}]
        >>> clean = ibid.dedup(notes)
        >>> clean.kept.to_dicts()
        [{'id': 1, 'text': 'The board met on Monday.'}]
        >>> [(row["id"], row["kept_id"]) for row in clean.removed.to_dicts()]
        [('2', '1')]
        """
        own = dict(
            unit=unit,
            by=by,
            signature=signature,
            threshold=threshold,
            min_words=min_words,
            method=method,
            bands=bands,
            rows=rows,
            seed=seed,
            max_bucket=max_bucket,
            sample=sample,
            keep=keep,
            by_source=by_source,
            max_pairs=max_pairs,
            format=format,
            rows_per_file=rows_per_file,
            ids_only=ids_only,
            annotate=annotate,
            rethreshold=rethreshold,
        )
        return self._found(Dedup, "dedup", documents, progress, own, reading)

    def decontaminate(
        self,
        documents: Documents,
        against: Documents,
        *,
        item_column: Union[str, Iterable[str], None] = None,
        item_id_column: Optional[str] = None,
        unit: Literal["document", "passage", None] = None,
        by: Literal["words", "containment", None] = None,
        words: Optional[int] = None,
        min_words: Optional[int] = None,
        signature: Optional[str] = None,
        threshold: Optional[float] = None,
        max_pairs: Optional[int] = None,
        format: Literal["parquet", "jsonl", "jsonl.gz", "jsonl.zst", "csv", None] = None,
        rows_per_file: Optional[int] = None,
        ids_only: Optional[bool] = None,
        annotate: Optional[bool] = None,
        progress: Optional[bool] = None,
        **reading: Unpack[Reading],
    ) -> Decontamination:
        """Removes what holds an item of an evaluation, such as a question of a benchmark, and says where.

        `against`: the items. `item_column` names their columns of text, `item_id_column` that of their ids.
        `unit`: what goes, a "document", the default, or the "passage" that has it.
        `by`: "words", a run of them, the default, or "containment".
        `words`: how many words of an item in a row a document must have; default 13. Items under `min_words` are not looked for;
        default 3.
        `signature`, `threshold`: for containment; default "shingles:5" and 0.8.
        `max_pairs`, `format`, `rows_per_file`, `ids_only`, `annotate`: as for `dedup`.

        >>> import ibid
        >>> question = "A farm has 12 hens and each hen lays 4 eggs a week. How many eggs are laid in a year of 52 weeks?"
        >>> train = [{"id": "a", "text": f"{question} I say 2496."}, {"id": "b", "text": "Hens lay eggs."}]
        >>> clean = ibid.decontaminate(train, [{"id": "q1", "text": question}])
        >>> [row["id"] for row in clean.kept.to_dicts()], clean.hits.to_dicts()[0]["item_id"]
        (['b'], 'q1')
        """
        own = dict(
            against=against,
            item_column=item_column,
            item_id_column=item_id_column,
            unit=unit,
            by=by,
            words=words,
            min_words=min_words,
            signature=signature,
            threshold=threshold,
            max_pairs=max_pairs,
            format=format,
            rows_per_file=rows_per_file,
            ids_only=ids_only,
            annotate=annotate,
        )
        return self._found(Decontamination, "decontaminate", documents, progress, own, reading)
