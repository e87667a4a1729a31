"""Tables of the deduplication benchmark, for the tools that take and give Python objects; tables.py SOURCE TARGET copies one."""
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq


def read(source):
    """Returns the table (id, text) and its two columns as lists."""
    table = pq.read_table(source)
    return table, table["id"].to_pylist(), table["text"].to_pylist()


def shingles(text, n):
    """Returns the runs of n words of a text of n words or more, repeated ones included."""
    words = text.split(" ")
    return [" ".join(words[i:i + n]) for i in range(len(words) - n + 1)]


def jaccard(a, b, n):
    """Returns the Jaccard similarity of two texts by their runs of n words."""
    a, b = set(shingles(a, n)), set(shingles(b, n))
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared)


def write(table, out, removed):
    """Writes kept.parquet and removed.parquet: `removed` maps ids to the id that is kept for each, or to None."""
    Path(out).mkdir()
    ids = pa.array(removed, pa.int64())
    pq.write_table(table.filter(pc.invert(pc.is_in(table["id"], ids))), f"{out}/kept.parquet", compression="zstd")
    kept_ids = pa.array(removed.values(), pa.int64())
    pq.write_table(pa.table({"id": ids, "kept_id": kept_ids}), f"{out}/removed.parquet")


def plain(source, target):
    """Writes a table again with a type of text that all tools read, and many row groups, over which they share out the reading."""
    table = pq.read_table(source)
    pq.write_table(table.cast(pa.schema([("id", pa.int64()), ("text", pa.string())])), target, row_group_size=50_000,
                   compression="zstd")


if __name__ == "__main__":
    plain(*sys.argv[1:])
