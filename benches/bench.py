#!/usr/bin/env python3
"""The similarity join side by side with other tools, each in a process of its own, from text in Parquet to pairs in Parquet.

benches/run --ibid PATH [--size S|M|L|poems] [--repeat 3] [--workloads NAMES] [--tools NAMES] [--limit 240] [--record]

Tools take turns (A B C A B C ...). Reports CPU seconds of the process and its children, wall seconds, peak resident memory,
pairs and a checksum of them, in which exact tools must agree: if they do not, the exit code is 1. A tool that passes a limit
is stopped; it is not tried again in that workload, nor is one that takes over --once seconds. Raw runs are JSON lines under
target/bench; --record puts them into benches/results and the tables into docs/performance.md.
"""
import argparse
import datetime
import fnmatch
import importlib.metadata
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import corpus
import report

HERE = Path(__file__).resolve().parent
PEERS, QUERIES = HERE / "peers", HERE / "queries"


@dataclass
class Workload:
    name: str
    n: int
    threshold: float
    tools: list
    sizes: tuple = ("S", "M")
    rows: int = None
    table: str = "sentences"


# ---- what each tool is called with: (workload, program) -> command, in a folder with input.parquet --------------------
def ibid(strategy, *options):
    def command(work, program):
        return [program, "sql", "-q", *options, "-c", f"SET ibid.similarity_join.strategy = '{strategy}'",
                "-f", QUERIES / "pairs.sql", "-p", f"n={work.n}", "-p", f"threshold={work.threshold}",
                "-o", "pairs.parquet"]
    return command


def ibid_pairs(work, program):
    return [program, "pairs", "-q", "input.parquet", "--signature", f"shingles:{work.n}", "--threshold",
            str(work.threshold), "--max-frequency", "1000000", "-o", "pairs.parquet"]


def peer(script, *arguments):
    return lambda work, program: [sys.executable, PEERS / f"{script}.py", *arguments, "input.parquet", "pairs.parquet",
                                  str(work.n), str(work.threshold)]


def join_alone(query, setting, *options):
    def command(work, program):
        return [program, "sql", "-q", "--format", "ndjson", *options,
                "-c", f"SET ibid.similarity_join.{setting}", "-f", QUERIES / f"{query}.sql",
                *(["-p", f"threshold={work.threshold}"] if query == "join" else [])]
    return command


TOOLS = {
    "ibid": ibid("auto"),
    "ibid, --memory 4GiB": ibid("auto", "--memory", "4GiB"),
    "ibid, --memory 1GiB": ibid("auto", "--memory", "1GiB"),
    "ibid, --memory 256MiB": ibid("auto", "--memory", "256MiB"),
    "ibid, operator": ibid("operator"),
    "ibid, lowered": ibid("lowered"),
    "ibid, nested_loop": ibid("nested_loop"),
    "ibid pairs": ibid_pairs,
    "DuckDB, prefix filter": peer("duckdb_sql", "prefix"),
    "DuckDB, all postings": peer("duckdb_sql", "postings"),
    "Polars": peer("polars_join"),
    "SetSimilaritySearch": peer("set_similarity_search"),
    "rensa": peer("rensa_lsh"),
    "datasketch": peer("datasketch_lsh"),
}
STEPS = {
    f"{name}{suffix}": join_alone(query, setting, *options)
    for suffix, options in ((", 1 thread", ["--threads", "1"]), ("", []))
    for name, query, setting in (
        ("operator", "join", "strategy = 'operator'"), ("lowered", "join", "strategy = 'lowered'"),
        ("without prefix", "join", "filters.prefix = false"), ("without position", "join", "filters.position = false"),
        ("without bitmap", "join", "filters.bitmap = false"), ("reading", "read", "strategy = 'operator'"))
}
STRATEGIES = [step for step in STEPS if not step.startswith("without")]
OPERATOR = [step for step in STRATEGIES if not step.startswith("lowered")]
FILTERS = [step for step in STEPS if step.endswith("1 thread") and not step.startswith("lowered")]
APPROXIMATE = {"rensa", "datasketch"}
SQL = ["ibid", "ibid, lowered", "DuckDB, prefix filter", "DuckDB, all postings"]
M, L, POEMS = ("M",), ("L",), ("poems",)
WORKLOADS = [
    Workload("4-shingles ≥ 0.8, first 30 sentences", 4, 0.8, ["ibid", "ibid, operator", "ibid, lowered", "ibid, nested_loop"],
             rows=30),
    Workload("4-shingles ≥ 0.8, first 10,000 sentences", 4, 0.8,
             [*SQL, "ibid, operator", "ibid, nested_loop", "Polars", "SetSimilaritySearch"], rows=10_000),
    Workload("4-shingles ≥ 0.9", 4, 0.9, SQL),
    Workload("4-shingles ≥ 0.8", 4, 0.8, [*SQL, "ibid, operator", "Polars", "SetSimilaritySearch"]),
    Workload("4-shingles ≥ 0.8", 4, 0.8,
             ["ibid", "ibid, --memory 4GiB", "ibid, --memory 1GiB", "ibid, --memory 256MiB", "DuckDB, prefix filter"], L),
    Workload("4-shingles ≥ 0.5", 4, 0.5, SQL),
    Workload("3-shingles ≥ 0.8", 3, 0.8, SQL),
    Workload("words ≥ 0.8, first 80,000 sentences", 1, 0.8,
             ["ibid", "ibid, lowered", "DuckDB, prefix filter", "SetSimilaritySearch"], rows=80_000),
    Workload("words ≥ 0.8", 1, 0.8, ["ibid", "ibid, operator", "DuckDB, prefix filter"]),
    Workload("words ≥ 0.5", 1, 0.5, ["ibid", "DuckDB, prefix filter"]),
    Workload("2-shingles ≥ 0.8", 2, 0.8, ["ibid", "DuckDB, prefix filter", "DuckDB, all postings"], POEMS),
    Workload("2-shingles ≥ 0.5", 2, 0.5, ["ibid", "DuckDB, prefix filter"], POEMS),
    Workload("characters ≥ 0.8", 1, 0.8, ["ibid", "DuckDB, prefix filter"], POEMS),
    Workload("documents, 5-shingles ≥ 0.8", 5, 0.8, ["ibid", "ibid pairs", "rensa", "datasketch"], table="documents"),
    Workload("join alone, 3-shingles ≥ 0.8", 3, 0.8, STRATEGIES, table="sets"),
    Workload("join alone, words ≥ 0.8, first 80,000 sentences", 1, 0.8, STRATEGIES, rows=80_000, table="sets"),
    Workload("join alone, words ≥ 0.8", 1, 0.8, OPERATOR, table="sets"),
    Workload("join alone, 3-shingles ≥ 0.8, first 1,000,000 sentences", 3, 0.8, OPERATOR, L, rows=1_000_000, table="sets"),
    Workload("join alone, words ≥ 0.8, first 1,000,000 sentences", 1, 0.8, OPERATOR, L, rows=1_000_000, table="sets"),
    Workload("filters, 3-shingles ≥ 0.8", 3, 0.8, FILTERS, M, table="sets"),
    Workload("filters, words ≥ 0.8, first 80,000 sentences", 1, 0.8, FILTERS, M, rows=80_000, table="sets"),
    Workload("filters, words ≥ 0.5, first 80,000 sentences", 1, 0.5, FILTERS, M, rows=80_000, table="sets"),
]


# ---- one run ------------------------------------------------------------------------------------------------------------
def measure(command, folder, limit, memory):
    """Runs a command and returns (what it wrote, its figures). os.wait4 counts the process and its children."""
    began, stopped = time.monotonic(), None
    with open(folder / "stdout", "w+") as out, open(folder / "stderr", "w+") as err:
        process = subprocess.Popen([str(part) for part in command], cwd=folder, stdout=out, stderr=err,
                                   start_new_session=True)
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            wall = time.monotonic() - began
            if pid:
                break
            if not stopped:
                stopped = f"not finished in {limit} s" if wall > limit else \
                    f"more than {memory} GiB" if resident(process.pid) > memory << 30 else None
                if stopped:
                    os.killpg(process.pid, signal.SIGKILL)
            time.sleep(0.005)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode and not stopped:
            err.seek(0)
            # The line that names the error, in a Python traceback among others.
            lines = err.read().strip().splitlines() or ["no message"]
            stopped = f"exit code {process.returncode}: {next((line for line in lines if 'Error:' in line), lines[-1])}"
        out.seek(0)
        return out.read(), {"status": stopped or "ok", "cpu": round(usage.ru_utime + usage.ru_stime, 3),
                            "wall": round(wall, 3), "rss_mib": round(usage.ru_maxrss / 1024, 1)}


def resident(pid):
    try:
        with open(f"/proc/{pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def count(folder, *files):
    counted = subprocess.run([sys.executable, HERE / "pairs.py", *files], cwd=folder, stdout=subprocess.PIPE)
    return json.loads(counted.stdout) if counted.returncode == 0 else None


def run_workload(work, args, base, record):
    """Runs the tools of a workload in turn; returns whether ibid ran and the exact tools agree."""
    tools = [tool for tool in work.tools if wanted(tool, args.tools)]
    if not tools:
        return True
    folder = base / "run"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    table = "documents" if work.table == "documents" else "sentences"
    if work.rows:
        subprocess.run([args.ibid, "sql", "-q", f"SELECT * FROM '../{table}.parquet' WHERE id <= {work.rows} ORDER BY id",
                        "-o", "input.parquet"], cwd=folder, check=True)
    else:
        shutil.copy(base / f"{table}.parquet", folder / "input.parquet")
    if work.table == "sets":
        subprocess.run([args.ibid, "sql", "-q", "-f", QUERIES / "sets.sql", "-p", f"n={work.n}", "-o", "sets.parquet"],
                       cwd=folder, check=True)

    finished, exact, agree = set(), {}, True
    for repeat in range(args.repeat):
        for tool in (tool for tool in tools if tool not in finished):
            (folder / "pairs.parquet").unlink(missing_ok=True)
            command = (STEPS if work.table == "sets" else TOOLS)[tool](work, args.ibid)
            written, run = measure(command, folder, args.limit, args.memory)
            run = {"workload": work.name, "tool": tool, "repeat": repeat, **run}
            if run["status"] != "ok" or run["wall"] > args.once:
                finished.add(tool)
            if run["status"] == "ok" and work.table == "sets":
                run.update(json.loads(written))
                if "pairs" in run:
                    exact.setdefault(run["pairs"], set()).add(tool)
            elif run["status"] == "ok":
                if tool == "ibid" and work.table == "documents":
                    shutil.copy(folder / "pairs.parquet", folder / "truth.parquet")
                truth = ["truth.parquet"] if tool in APPROXIMATE and (folder / "truth.parquet").exists() else []
                counted = count(folder, "pairs.parquet", *truth)
                run.update(counted or {"status": "pairs that cannot be counted"})
                if tool not in APPROXIMATE:
                    exact.setdefault((run.get("pairs"), run.get("checksum")), set()).add(tool)
            record(run)
            if command[0] == args.ibid and "--memory" not in command and run["status"].startswith("exit code"):
                agree = False
    if len(exact) > 1:
        agree = False
        print(f"\nMISMATCH in {work.name}: (pairs, checksum) by tool\n" +
              "\n".join(f"  {key}: {', '.join(sorted(names))}" for key, names in exact.items()), file=sys.stderr)
    return agree


# ---- the whole ----------------------------------------------------------------------------------------------------------
def wanted(name, words):
    """Whether a name is in the list, or there is no list."""
    return not words or any(fnmatch.fnmatch(name, word) for word in words.split(";"))


def rows(args, table):
    command = [args.ibid, "sql", "-q", "--format", "ndjson", f"SELECT count(*) AS rows FROM '{table}'"]
    return json.loads(subprocess.check_output(command))["rows"]


def environment(args, base, tables=("sentences", "documents"), requirements="requirements.txt"):
    with open("/proc/cpuinfo") as file:
        models = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    with open("/proc/meminfo") as file:
        memory = int(file.readline().split()[1])
    git = subprocess.run(["git", "describe", "--always"], cwd=HERE, stdout=subprocess.PIPE, text=True)
    commit = git.stdout.strip() or "no commit"
    sources = ["src", "udfs", "queries", "Cargo.toml", "Cargo.lock"]
    if subprocess.run(["git", "diff", "--quiet", "HEAD", "--", *sources], cwd=HERE.parent).returncode:
        commit += ", changed"
    names = [line.split("==")[0] for line in (HERE / requirements).read_text().splitlines()]
    return {
        "date": datetime.date.today().isoformat(), "size": args.size, "repeat": args.repeat,
        "packages": json.loads((base / "packages.json").read_text()),
        **{table: rows(args, base / f"{table}.parquet") for table in tables},
        "cpu": models[0] if models else platform.processor(), "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(memory / 2**20), "kernel": ".".join(platform.release().split(".")[:2]), "python": platform.python_version(),
        "load": os.getloadavg()[0], "once_s": args.once, "limit_s": args.limit, "limit_gib": args.memory,
        "ibid": subprocess.check_output([args.ibid, "--version"], text=True).strip(), "commit": commit,
        "versions": {name: importlib.metadata.version(name) for name in names},
    }


def program(parser, given):
    """The path of a program that can be run."""
    found = shutil.which(given)
    if not found:
        parser.error("--ibid is no program that can be run")
    return str(Path(found).resolve())


def recorder(file, counted):
    """What writes an entry as a line of a file, and says a run, with what it counted."""
    def record(entry):
        file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        file.flush()
        if "tool" in entry:
            print(f"{entry['workload']:50} {entry['tool']:24} {entry['cpu']:8.2f} s {entry['rss_mib']:8.0f} MiB "
                  f"{entry.get(counted, ''):>10} {entry['status']}", file=sys.stderr, flush=True)
    return record


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ibid", required=True, help="the program, an optimised build")
    parser.add_argument("--size", choices=corpus.SIZES, default="M")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each tool; tables have the medians (default 3)")
    parser.add_argument("--workloads", help="only these, separated by semicolons; * stands for anything")
    parser.add_argument("--tools", help="only these, likewise")
    parser.add_argument("--limit", type=int, default=240, help="seconds a run may take (default 240)")
    parser.add_argument("--memory", type=int, default=12, help="GiB a run may take (default 12)")
    parser.add_argument("--once", type=int, default=15, metavar="SECONDS",
                        help="a tool that takes longer is not run again in a workload (default 15)")
    parser.add_argument("--out", type=Path, default=HERE.parent / "target/bench", help="where tables and runs go")
    parser.add_argument("--packages", type=Path, help="where the packages lie or go (default OUT/packages)")
    parser.add_argument("--record", action="store_true", help="keep the runs and write docs/performance.md")
    parser.add_argument("--list", action="store_true", help="print workloads and their tools, and run nothing")
    args = parser.parse_args()
    if args.record and (args.workloads or args.tools):
        parser.error("--record keeps whole runs only: leave out --workloads and --tools")
    works = [work for work in WORKLOADS if args.size in work.sizes and wanted(work.name, args.workloads)]
    if args.list:
        for work in works:
            print(f"{work.name}: {'; '.join(work.tools)}")
        return 0
    args.ibid = program(parser, args.ibid)

    base = args.out.resolve() / args.size
    subprocess.run([sys.executable, HERE / "corpus.py", "--ibid", args.ibid, "--size", args.size, "--out", base,
                    "--packages", args.packages or args.out / "packages"], check=True)
    runs = base / "runs.jsonl"
    with open(runs, "w") as file:
        record = recorder(file, "pairs")
        record(environment(args, base))
        agree = all([run_workload(work, args, base, record) for work in works])
    shutil.rmtree(base / "run", ignore_errors=True)
    print(report.tables(runs))
    if not agree:
        print("\nibid failed, or exact tools found different pairs: see above.", file=sys.stderr)
        return 1
    if args.record:
        (HERE / "results").mkdir(exist_ok=True)
        shutil.copy(runs, HERE / "results" / f"{args.size}.jsonl")
        report.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
