#!/usr/bin/env python3
"""`ibid dedup` side by side with other tools, each in a process of its own, from text in Parquet to what stays in Parquet.

benches/run dedup --ibid PATH [--size S|M|L] [--texts 1000000] [--repeat 3] [--workloads NAMES] [--tools NAMES] [--limit 900]
                  [--sample 10000] [--record]

Two documents match if the sets of their runs of five words have a Jaccard similarity of 0.8 or more. The documents are those of
the packages of a size (corpus.py), the texts are short and made up (peers/dedup/texts.py). Texts are lower case and have one
space between words, so that all tools see the same words.

A run reads (id, text) and writes what stays, and the ids of what goes with what stays for each where the tool says so. Tools
take turns (A B C A B C ...). Figures are CPU seconds of the process and its children, wall seconds, and the peak of resident
memory, of several processes their proportional shares added up. A tool that passes a limit is stopped and not tried again in
that workload, nor is one that takes over --once seconds.

What a tool kept is judged by a random sample, each document of which is compared with all others (peers/dedup/judge.py):

* duplicates: documents of the sample that match an earlier document.
* recall: the share of duplicates that do not stand beside an earlier match any more. Either they were removed, or all earlier
  documents that they match were; a tool need not keep the first of several.
* wrong removals: documents of the sample that were removed although no document that the tool kept matches them; the share of
  them among all of the sample that were removed.

`ibid` must remove exactly what a pass over the documents in order removes, which keeps a document unless it matches one that it
kept before. If it does not, the exit code is 1. *Verifies* says whether a tool compares the sets of what it takes for a
duplicate, the sketches of the sets, or neither.

Raw runs are JSON lines under target/bench; --record puts them into benches/results/dedup. `dedup.py --report FILE` prints
the tables of such a file. semhash is not among the tools: it compares embeddings, and gets its model from a server.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import bench
import corpus
import report

HERE = Path(__file__).resolve().parent
PEERS = HERE / "peers/dedup"
N, THRESHOLD = 5, 0.8


def ibid(*options):
    return lambda program: [program, "dedup", "-q", "input.parquet", "-o", "out", "--by", "jaccard", "--threshold", THRESHOLD,
                            "--signature", f"shingles:{N}", *options]


def peer(script, *mode):
    return lambda program: [sys.executable, PEERS / f"{script}.py", *mode, "input.parquet", "out", N, THRESHOLD]


@dataclass
class Tool:
    command: callable
    verifies: str


SETS, SKETCHES, NOTHING = "sets", "sketches", "no"
TOOLS = {
    "ibid": Tool(ibid(), SETS),
    "ibid, --memory 2GiB": Tool(ibid("--memory", "2GiB"), SETS),
    "rensa": Tool(peer("rensa_dedup", "estimate"), SKETCHES),
    "rensa, verified": Tool(peer("rensa_dedup", "verify"), SETS),
    "datasketch": Tool(peer("datasketch_dedup", "candidates"), NOTHING),
    "datasketch, verified": Tool(peer("datasketch_dedup", "verify"), SETS),
    "text-dedup": Tool(peer("text_dedup_minhash"), SETS),
    "datatrove": Tool(peer("datatrove_minhash"), NOTHING),
    "daft": Tool(peer("daft_minhash"), NOTHING),
}
WORKLOADS = {"documents": [tool for tool in TOOLS if tool != "ibid, --memory 2GiB"], "texts": list(TOOLS)}


# ---- one run ------------------------------------------------------------------------------------------------------------
class Processes(threading.Thread):
    """The peak of the memory of several processes that this one started, and that ran at the same time, in MiB."""

    def __init__(self):
        super().__init__(daemon=True)
        self.peak, self.stopped = 0, threading.Event()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.join()

    def run(self):
        while not self.stopped.wait(0.2):
            processes = self.started_by(os.getpid())
            # The kernel has the peak of one.
            if len(processes) > 1:
                self.peak = max(self.peak, sum(map(self.share, processes)))

    def started_by(self, process):
        children = []
        for file in Path(f"/proc/{process}/task").glob("*/children"):
            try:
                children += file.read_text().split()
            except OSError:  # it has ended
                pass
        return children + [below for child in children for below in self.started_by(child)]

    def share(self, process):
        try:
            lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        except OSError:
            return 0
        return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def make(path, script, argument):
    """Has a script make a table from its argument, unless it is there."""
    if not path.exists():
        part = path.with_suffix(".part")
        subprocess.run([sys.executable, PEERS / script, str(argument), part], check=True)
        part.rename(path)


def judge(*arguments):
    """Runs judge.py, in a process of its own so that the harness stays small: what it takes counts in its children's peaks."""
    judged = subprocess.run([sys.executable, PEERS / "judge.py", *map(str, arguments)], stdout=subprocess.PIPE)
    return judged.stdout if judged.returncode == 0 else None


def run_workload(work, source, args, record):
    """Runs the tools of a workload in turn; returns whether ibid decided as it must."""
    tools = [tool for tool in WORKLOADS[work] if bench.wanted(tool, args.tools)]
    if not tools:
        return True
    truth = args.out / "dedup" / f"{work}.npz"
    if judge("truth", source, truth, N, THRESHOLD, args.sample) is None:
        sys.exit(f"{source} cannot be judged")
    folder, finished, right = args.out / "dedup/run", set(), True
    for repeat in range(args.repeat):
        for tool in (tool for tool in tools if tool not in finished):
            # Nothing that an earlier run left is there.
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            os.link(source, folder / "input.parquet")
            with Processes() as processes:
                _, run = bench.measure(TOOLS[tool].command(args.ibid), folder, args.limit, args.memory)
            run = {"workload": work, "tool": tool, "repeat": repeat, "verifies": TOOLS[tool].verifies, **run,
                   "rss_mib": round(max(run["rss_mib"], processes.peak), 1)}
            if run["status"] == "ok":
                judged = judge("judge", source, truth, folder / "out")
                run.update(json.loads(judged) if judged else {"status": "output that cannot be judged"})
            if run["status"] != "ok" or run["wall"] > args.once:
                finished.add(tool)
            record(run)
            if tool.startswith("ibid") and (run["status"] != "ok" or run["differs"]):
                right = False
    shutil.rmtree(folder)
    return right


# ---- the tables -----------------------------------------------------------------------------------------------------------
def results(tools):
    rows = []
    for tool, run in tools.items():
        figures = [run["status"]] + [""] * 7
        if run["status"] == "ok":
            recall = 1 - run["left"] / max(1, run["duplicates"])
            wrong = run["wrong"] / max(1, run["sample_removed"])
            figures = [f"{run['cpu']:.1f}", f"{run['wall']:.1f}", f"{run['rss_mib']:,.0f}", f"{run['kept']:,}",
                       f"{run['removed']:,}", f"{recall:.4f}", f"{wrong:.2%}", report.times(run, tools.get("ibid"))]
        rows.append([tool, run["verifies"], *figures])
    return report.table(["tool", "verifies", "CPU s", "wall s", "peak MiB", "kept", "removed", "recall", "wrong removals",
                         "CPU, times ibid's"], rows)


def tables(path):
    e, works = report.read(path)
    out = [report.circumstances(e)]
    of = {"documents": f"{e['documents']:,} documents of {report.packages(e)}", "texts": f"{e['texts']:,} short texts"}
    for work, runs in works.items():
        judged = next((run for run in runs.values() if "sample" in run), None)
        sample = f", of which {judged['sample']:,} were judged, {judged['duplicates']:,} of them duplicates" if judged else ""
        out.append(f"{of[work]}{sample}:\n\n{results(runs)}")
    return "\n\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ibid", help="the program, an optimised build")
    parser.add_argument("--size", choices=[size for size in corpus.SIZES if size != "poems"], default="L")
    parser.add_argument("--texts", type=int, default=1_000_000, metavar="N", help="how many short texts (default 1000000)")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each tool; tables have the medians (default 3)")
    parser.add_argument("--workloads", help="only these, separated by semicolons: documents, texts")
    parser.add_argument("--tools", help="only these, separated by semicolons; * stands for anything")
    parser.add_argument("--limit", type=int, default=900, help="seconds a run may take (default 900)")
    parser.add_argument("--memory", type=int, default=12, help="GiB a run may take (default 12)")
    parser.add_argument("--once", type=int, default=30, metavar="SECONDS",
                        help="a tool that takes longer is not run again in a workload (default 30)")
    parser.add_argument("--sample", type=int, default=10_000, metavar="N", help="documents that are judged (default 10000)")
    parser.add_argument("--out", type=Path, default=HERE.parent / "target/bench", help="where tables and runs go")
    parser.add_argument("--packages", type=Path, help="where the packages lie or go (default OUT/packages)")
    parser.add_argument("--record", action="store_true", help="keep the runs in benches/results/dedup")
    parser.add_argument("--report", type=Path, metavar="FILE", help="print the tables of these runs, and run nothing")
    args = parser.parse_args()
    if args.report:
        print(tables(args.report))
        return 0
    if args.record and (args.workloads or args.tools):
        parser.error("--record keeps whole runs only: leave out --workloads and --tools")
    args.ibid = bench.program(parser, args.ibid or "")
    args.out = args.out.resolve()

    base, folder = args.out / args.size, args.out / "dedup"
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, HERE / "corpus.py", "--ibid", args.ibid, "--size", args.size, "--out", base,
                    "--packages", args.packages or args.out / "packages"], check=True)
    sources = {"documents": folder / f"documents-{args.size}.parquet", "texts": folder / f"texts-{args.texts}.parquet"}
    make(sources["documents"], "tables.py", base / "documents.parquet")
    make(sources["texts"], "texts.py", args.texts)
    runs = folder / "runs.jsonl"
    with open(runs, "w") as file:
        record = bench.recorder(file, "kept")
        record({**bench.environment(args, base, ["documents"], "requirements-dedup.txt"), "texts": args.texts})
        right = all([run_workload(work, source, args, record) for work, source in sources.items()
                     if bench.wanted(work, args.workloads)])
    print(tables(runs))
    if not right:
        print("\nibid failed, or removed other documents than it must: see above.", file=sys.stderr)
        return 1
    if args.record:
        (HERE / "results/dedup").mkdir(parents=True, exist_ok=True)
        shutil.copy(runs, HERE / "results/dedup" / f"{args.size}.jsonl")
    return 0


if __name__ == "__main__":
    sys.exit(main())
