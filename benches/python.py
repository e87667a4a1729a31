#!/usr/bin/env python3
"""The Python package beside the program, and beside DuckDB and polars, each run in a process of its own.

benches/python.py --ibid PATH --site FOLDER [--documents 100000] [--rows 1000000] [--repeat 3]

FOLDER has the package, as `python/test` and a wheel lay it out; the Python that runs this has pyarrow, polars and duckdb.

* Overhead: `ibid.pairs(FILE).write(OUT)` beside `ibid pairs FILE -o OUT`, and the same of passages with all tables, on made-up
  documents.
* Rows: a table of pyarrow goes in, is grouped by nothing and filtered by nothing, and comes out as a table of pyarrow.

Figures are medians of CPU seconds of the process, and the peak of its resident memory. Runs take turns (A B C A B C ...).
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PAIRS = "import ibid; ibid.pairs({file!r}, progress=False).write({out!r})"
PASSAGES = "import ibid; ibid.passages({file!r}, progress=False).write({out!r})"
ROWS = {
    "pyarrow alone": "import pyarrow.parquet as p; t = p.read_table({file!r})",
    "ibid": "import pyarrow.parquet as p, ibid; t = p.read_table({file!r}); "
    "db = ibid.connect(); db.register('t', t); assert db.sql('SELECT * FROM t').to_arrow().num_rows == {rows}",
    "DuckDB": "import pyarrow.parquet as p, duckdb; t = p.read_table({file!r}); "
    "assert duckdb.sql('SELECT * FROM t').to_arrow_table().num_rows == {rows}",
    "polars": "import pyarrow.parquet as p, polars; t = p.read_table({file!r}); "
    "assert polars.DataFrame(t).lazy().select('*').collect().to_arrow().num_rows == {rows}",
}


def run(command, environment):
    """Returns the CPU seconds and the peak of memory in MiB of a command."""
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"benches/python.py: {command} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def documents(path, count):
    """Writes documents of 60 words, one in five of which is a copy of an earlier one with a word changed."""
    of = random.Random(1)
    kept = []
    with open(path, "w") as file:
        for number in range(count):
            words = list(of.choice(kept)) if kept and number % 5 == 0 else [f"w{of.randrange(20_000)}" for _ in range(60)]
            words[of.randrange(60)] = "changed"
            if len(kept) < 20_000:
                kept.append(words)
            file.write(json.dumps({"id": number, "text": " ".join(words) + "."}) + "\n")


def rows(path, count):
    import pyarrow
    import pyarrow.parquet

    of = random.Random(2)
    texts = [" ".join(f"w{of.randrange(20_000)}" for _ in range(10)) for _ in range(count)]
    pyarrow.parquet.write_table(pyarrow.table({"id": list(range(count)), "text": texts}), path)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--ibid")
    options.add_argument("--site")
    options.add_argument("--make", help=argparse.SUPPRESS)
    options.add_argument("--documents", type=int, default=100_000)
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--repeat", type=int, default=3)
    given = options.parse_args()
    if given.make:
        documents(Path(given.make, "documents.jsonl"), given.documents)
        rows(Path(given.make, "rows.parquet"), given.rows)
        return
    environment = os.environ | {"PYTHONPATH": given.site}
    with tempfile.TemporaryDirectory() as folder:
        file, table, out = (str(Path(folder, name)) for name in ("documents.jsonl", "rows.parquet", "out"))
        # In a process of its own: the peak of a process is at least that of the one that starts it.
        make = [sys.executable, __file__, "--make", folder, "--documents", given.documents, "--rows", given.rows]
        subprocess.run([str(part) for part in make], check=True)
        python = lambda script: [sys.executable, "-c", script.format(file=file, out=out, rows=given.rows)]
        in_rows = lambda script: [sys.executable, "-c", script.format(file=table, rows=given.rows)]
        runs = {
            "pairs: the program": [given.ibid, "pairs", file, "-q", "-o", f"{out}.parquet"],
            "pairs: Python": python(PAIRS.replace("{out!r}", repr(f"{out}.parquet"))),
            "passages: the program": [given.ibid, "passages", file, "-q", "-o", f"{out}/"],
            "passages: Python": python(PASSAGES),
            **{f"{given.rows:,} rows: {name}": in_rows(script) for name, script in ROWS.items()},
        }
        measured = {name: [] for name in runs}
        for _ in range(given.repeat):
            for name, command in runs.items():
                measured[name].append(run(command, environment))
    print("| run | CPU s | peak, MiB |\n| --- | --- | --- |")
    for name, figures in measured.items():
        seconds, peak = (statistics.median(figure) for figure in zip(*figures))
        print(f"| {name} | {seconds:.2f} | {peak:,.0f} |")


if __name__ == "__main__":
    main()
