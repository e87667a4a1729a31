"""Runs: threads, signals, forks, limits."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import ibid
import pytest

ORDERS = list(itertools.permutations(["ibid", "pyarrow", "polars", "duckdb", "numpy"]))
random.Random(7).shuffle(ORDERS)

USE = """
import pyarrow, polars, duckdb, ibid
table = pyarrow.table({"id": ["a", "b"], "text": ["one two three four", "one two three four"]})
pairs = ibid.pairs(table, signature="shingles:1").pairs
assert pairs.to_polars().height == len(duckdb.from_arrow(pairs.to_arrow()).fetchall()) == pairs.to_arrow().num_rows == 1
"""


@pytest.mark.parametrize("orders", [ORDERS[start : start + 4] for start in range(0, 20, 4)])
def test_it_is_imported_beside_others_in_any_order(orders: list[tuple[str, ...]]) -> None:
    running = [
        subprocess.Popen([sys.executable, "-c", f"import {', '.join(order)}\n{USE}"], stderr=subprocess.PIPE) for order in orders
    ]
    for order, process in zip(orders, running):
        said = process.communicate(timeout=60)[1]
        assert process.returncode == 0, (order, said.decode()[-300:])


def test_importing_imports_nothing_of_others() -> None:
    said = subprocess.check_output([sys.executable, "-c", "import ibid, sys; print(*sys.modules)"], text=True)
    assert not {"pyarrow", "polars", "pandas", "numpy", "duckdb", "IPython"} & set(said.split())


def test_threads_share_a_connection(licences: Path) -> None:
    with ibid.connect() as db, ThreadPoolExecutor(4) as threads:
        counts = list(threads.map(lambda _: len(db.pairs(licences).pairs), range(8)))
    assert counts == [866] * 8


def test_other_threads_go_on_during_a_run(licences: Path) -> None:
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.wait(0.01):
            ticks.append(time.monotonic())

    ticking = threading.Thread(target=tick)
    ticking.start()
    began = time.monotonic()
    ibid.passages(licences)
    ended = time.monotonic()
    done.set()
    ticking.join()
    assert sum(began < at < ended for at in ticks) > 5


def test_connections_have_limits_of_their_own() -> None:
    small, large = ibid.connect(memory="64MiB", threads=1), ibid.connect(memory=2 << 30, threads=2)
    assert (small.memory, large.memory) == (64 << 20, 2 << 30)
    query = "SELECT count(DISTINCT value::text || repeat('x', 100)) AS n FROM range(400000)"
    with pytest.raises(ibid.MemoryLimitError):
        small.sql(query).to_dicts()
    assert large.sql(query).to_dicts() == [{"n": 400_000}]


def interrupted(script: str, seconds: float) -> tuple[subprocess.Popen[bytes], float]:
    """Returns a process that was interrupted so long after it printed `ready`, and when that was."""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    time.sleep(seconds)
    at = time.monotonic()
    process.send_signal(signal.SIGINT)
    return process, at


@pytest.mark.parametrize("work", ["db.sql(QUERY).to_arrow()", "pyarrow.table(db.sql(QUERY))", "len(db.sql(QUERY))"])
def test_an_interrupt_ends_a_query_within_a_second(work: str, tmp_path: Path) -> None:
    script = f"""
import ibid, pyarrow, sys
QUERY = "SELECT a.value % 5 AS n, sum(b.value) FROM range(1000000) AS a JOIN range(1000000) AS b ON a.value % 7 < b.value % 11 GROUP BY n"
db = ibid.connect(temporary_folder={str(tmp_path)!r})
print("ready", flush=True)
try:
    {work}
except KeyboardInterrupt:
    sys.exit(7)
"""
    process, began = interrupted(script, 0.7)
    assert process.wait(timeout=20) == 7
    assert time.monotonic() - began < 3
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_ends_a_method(tmp_path: Path) -> None:
    words = random.Random(1)
    with open(tmp_path / "docs.jsonl", "w") as file:
        for number in range(40_000):
            text = " ".join(f"w{words.randrange(5000)}" for _ in range(100))
            file.write(json.dumps({"id": number, "text": text}) + "\n")
    folder = tmp_path / "temporary"
    folder.mkdir()
    script = f"""
import ibid, sys, time
db = ibid.connect(temporary_folder={str(folder)!r})
print("ready", flush=True)
try:
    db.passages({str(tmp_path / "docs.jsonl")!r})
except KeyboardInterrupt:
    print(time.monotonic(), flush=True)
    del db
    sys.exit(7)
"""
    process, began = interrupted(script, 1)
    assert process.stdout is not None
    assert float(process.stdout.readline()) - began < 1
    assert process.wait(timeout=20) == 7


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are of Unix")
def test_a_fork_has_a_connection_of_its_own(rows: list[dict[str, object]]) -> None:
    script = f"""
import ibid, multiprocessing
def count(_):
    return len(ibid.dedup({rows!r}).kept)
assert count(0) == 3
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(count, range(4)) == [3, 3, 3, 3]
assert count(0) == 3
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, timeout=60)


def test_a_fork_while_rows_are_read_says_what_to_do() -> None:
    script = """
import ibid, os, pyarrow
db = ibid.connect()
rows = pyarrow.RecordBatchReader.from_stream(db.sql("SELECT value FROM range(200000)"))
def of_a_fork():
    child = os.fork()
    if child == 0:
        try:
            db.sql("SELECT 1").to_dicts()
            os._exit(0)
        except OSError as error:
            os._exit(1 if "fork before or after" in str(error) else 2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
rows.read_next_batch()
assert of_a_fork() == 1
rows.read_all()
assert of_a_fork() == 0
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, timeout=60)


def test_the_program_comes_with_it(tmp_path: Path, licences: Path) -> None:
    run = [sys.executable, "-m", "ibid"]
    version = subprocess.check_output([*run, "--version"], text=True)
    assert version == f"ibid {ibid.__version__}\n"
    out = tmp_path / "pairs.parquet"
    subprocess.run([*run, "pairs", licences, "-o", out, "--quiet"], check=True)
    assert ibid.sql(f"SELECT count(*) AS n FROM '{out}'").to_dicts() == [{"n": 866}]
    wrong = subprocess.run([*run, "pears"], stderr=subprocess.PIPE, text=True)
    assert wrong.returncode == 2 and "pairs" in wrong.stderr


def test_a_terminal_sees_what_a_run_does(licences: Path) -> None:
    import pty

    def shown(progress: bool) -> str:
        script = f"import ibid; ibid.connect(progress={progress}).passages({str(licences)!r})"
        main, side = pty.openpty()
        process = subprocess.Popen([sys.executable, "-c", script], stderr=side)
        os.close(side)
        said = b""
        try:
            while part := os.read(main, 4096):
                said += part
        except OSError:
            pass
        os.close(main)
        assert process.wait() == 0
        return said.decode()

    assert "passages  " in shown(True) and shown(True).endswith("\r\x1b[K")
    assert shown(False) == ""
