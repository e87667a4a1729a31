#!/usr/bin/env python3
"""A cluster beside one process, on this machine: the same rows, in what time, CPU time and memory.

cluster.py --bin FOLDER [--out DIR] [--packages DIR] [--sets M,L | --pages 2000,20000,200000] [--executors 1,2] [--partitions N]
           [--memory SIZE] [--work pairs,passages]

FOLDER has the programs `ibid` and `ibid-cluster`. What is compared are the packages of documentation of a size of benches/corpus.py, or
generated pages of 50 sentences each (benches/pages.py). Each executor is held to a processor of its own, and so is the process that
runs alone. Prints a Markdown table: seconds, CPU seconds of all processes (those of a cluster are the command and the executors), peak
memory of the largest of them, what executors have written to their disk (rows between stages and tables), rows.

With several numbers of pages there is a partition for so many sentences, or N if those are more, and it prints, too, what 10⁹ sentences
would take: a constant and so much for each sentence, by what the first two numbers took. What that says of the other numbers stands
beside what was measured.
"""
import argparse
import hashlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import corpus
import pages

TICKS = os.sysconf("SC_CLK_TCK")
SENTENCES = 1_250_000  # of a partition
JOIN = """SELECT count(*) AS pairs, sum(a.sent + b.sent) AS sents
FROM (SELECT doc_id, sent, shingles(words(normalize(text)), 4) AS set FROM '{corpus}/sentences.parquet') AS a
JOIN (SELECT doc_id, sent, shingles(words(normalize(text)), 4) AS set FROM '{corpus}/sentences.parquet') AS b
ON jaccard(a.set, b.set) >= 0.8 AND a.doc_id < b.doc_id"""
WORK = {
    "4-shingles ≥ 0.8 in SQL": ["sql", "-q", JOIN, "--format", "csv"],
    "pairs": ["pairs", "{corpus}", "-q", "--format", "csv"],
    "passages": ["passages", "{corpus}", "-q", "--format", "csv"],
}


def used_by(pid):
    """The CPU seconds of a process that runs, its peak memory in MiB, and what it has written to disk, in MiB."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    status = Path(f"/proc/{pid}/status").read_text()
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    io = Path(f"/proc/{pid}/io").read_text().splitlines()
    written = next(int(line.split()[1]) for line in io if line.startswith("write_bytes"))
    return (int(fields[11]) + int(fields[12])) / TICKS, peak / 1024, written / 2**20


def run(command, core=None):
    """Seconds, CPU seconds and peak memory of a command, and the lines that it prints, as their number and a digest."""
    pinned = ["taskset", "-c", str(core)] if core is not None else []
    began = time.monotonic()
    process = subprocess.Popen([*pinned, *map(str, command)], stdout=subprocess.PIPE)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command} failed")
    rows = sorted(out.splitlines())
    digest = hashlib.sha256(b"\n".join(rows)).hexdigest()[:8]
    return time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, f"{len(rows) - 1:,}", digest


class Cluster:
    """A scheduler, and executors that are held to a processor each."""

    def __init__(self, program, executors, memory, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.scheduler = subprocess.Popen([program, "scheduler", "--bind", self.address], **quiet)
        time.sleep(1)
        self.executors = [
            subprocess.Popen(["taskset", "-c", str(core), program, "executor", "--scheduler", self.address, "--tasks", "1",
                              "--memory", memory, "--work-dir", folder], **quiet)
            for core in range(executors)]
        time.sleep(2)

    def used(self):
        cpu, peak, written = zip(*(used_by(process.pid) for process in self.executors))
        return sum(cpu), max(peak), sum(written)

    def end(self):
        for process in [*self.executors, self.scheduler]:
            process.kill()
            process.wait()


def sentences(ibid, of):
    counted = pages.query(ibid, f"SELECT count(*) AS n FROM '{of}/sentences.parquet'")
    return counted["n"]


def compare(args, of, work, partitions):
    """Prints what some work takes on a collection; returns, for the most executors, CPU seconds, peak and written MiB."""
    name, taken = of.name, {}

    def said(work, by, seconds, cpu, peak, written, rows, digest):
        written = f"{written:,.0f}" if written is not None else ""
        print(f"| {name} | {work} | {by} | {seconds:.1f} | {cpu:.1f} | {peak:,.0f} | {written} | {rows} | {digest} |", flush=True)

    lines = {name: [part.replace("{corpus}", str(of)) for part in line] for name, line in work.items()}
    digests = {}
    for work, line in lines.items():
        seconds, cpu, peak, rows, digests[work] = run([args.bin / "ibid", *line], core=0)
        said(work, "one process", seconds, cpu, peak, None, rows, digests[work])
    for count in map(int, args.executors.split(",")):
        for work, line in lines.items():
            folder = tempfile.mkdtemp(dir=args.out)
            cluster = Cluster(args.bin / "ibid-cluster", count, args.memory, folder)
            try:
                options = ["--cluster", f"df://{cluster.address}", "--partitions", partitions, "--tables", Path(folder) / "tables"]
                seconds, cpu, _, rows, digest = run([args.bin / "ibid-cluster", *line, *options])
                of_executors, peak, written = cluster.used()
                said(work, f"{count} executor{'s' if count > 1 else ''}", seconds, cpu + of_executors, peak, written, rows, digest)
                if digest != digests[work]:
                    sys.exit(f"{name}: the rows of {work} are not those of one process")
                taken[work] = {"CPU s": cpu + of_executors, "MiB of an executor": peak, "MiB written": written}
            finally:
                cluster.end()
                shutil.rmtree(folder, ignore_errors=True)
    return taken


def extrapolate(measured):
    """Prints what is to be expected of more sentences, by what the two smallest collections took."""
    (few, at_few), (more, at_more), *others = sorted(measured.items())
    print("\n| work | figure | constant | for 10⁶ sentences | " + "".join(f"{n:,} expected | measured | " for n, _ in others) + "10⁹ |")
    print("| --- | --- | ---: | ---: |" + " ---: | ---: |" * len(others) + " ---: |")
    for work, figures in at_few.items():
        for figure, first in figures.items():
            each = (at_more[work][figure] - first) / (more - few)
            expected = lambda n: first + each * (n - few)
            beside = "".join(f"{expected(n):,.0f} | {at[work][figure]:,.0f} | " for n, at in others)
            print(f"| {work} | {figure} | {expected(0):,.0f} | {each * 10**6:,.1f} | {beside}{expected(10**9):,.0f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("target/bench-cluster"))
    parser.add_argument("--packages", type=Path, help="where the packages lie or go (default DIR/packages)")
    parser.add_argument("--sets", default="M", help="sizes of benches/corpus.py; none with --pages")
    parser.add_argument("--pages", help="numbers of generated pages")
    parser.add_argument("--executors", default="1,2")
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--memory", default="4GiB")
    parser.add_argument("--work", default=",".join(WORK), help="what is done: of " + ", ".join(WORK))
    args = parser.parse_args()
    chosen = {name: WORK[name] for name in args.work.split(",")}
    args.out = args.out.resolve()
    packages = (args.packages or args.out / "packages").resolve()
    packages.mkdir(parents=True, exist_ok=True)
    ibid = args.bin / "ibid"
    header = "| collection | work | by | s | CPU s | MiB | MiB written | rows | digest |\n| --- |" + " --- |" * 8
    if not args.pages:
        made = [pages.documentation(ibid, args.out, packages, corpus.SIZES[size], size) for size in args.sets.split(",")]
        print(header)
        for of in made:
            compare(args, of, chosen, args.partitions)
        return
    made = []
    for count in map(int, args.pages.split(",")):
        made.append(pages.corpus_of_pages(ibid, args.out, count)[0])
    print(header)
    # Of pages with the same side bar each pair is similar, and each sentence of the bar.
    work = {"passages": WORK["passages"]}
    measured = {}
    for of in made:
        count = sentences(ibid, of)
        measured[count] = compare(args, of, work, max(args.partitions, count // SENTENCES))
    if len(measured) > 1:
        extrapolate(measured)


if __name__ == "__main__":
    main()
