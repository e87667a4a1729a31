#!/usr/bin/env python3
"""A cluster beside one process, on this machine: the same rows, in what time, CPU time and memory.

cluster.py --bin FOLDER --corpus FOLDER [--executors 1,2] [--partitions N] [--memory SIZE]

FOLDER has the programs `ibid` and `ibid-cluster`; the corpus is one of `ibid ingest`. Each executor is held to a processor of its own,
and so is the process that runs alone. Prints a Markdown table: seconds, CPU seconds of all processes (those of a cluster are the
command and the executors), peak memory of the largest of them, rows.
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

TICKS = os.sysconf("SC_CLK_TCK")
JOIN = """SELECT count(*) AS pairs, sum(a.sent + b.sent) AS sents
FROM (SELECT doc_id, sent, shingles(words(normalize(text)), 4) AS set FROM '{corpus}/sentences.parquet') AS a
JOIN (SELECT doc_id, sent, shingles(words(normalize(text)), 4) AS set FROM '{corpus}/sentences.parquet') AS b
ON jaccard(a.set, b.set) >= 0.8 AND a.doc_id < b.doc_id"""
WORK = {
    "4-shingles ≥ 0.8 in SQL": ["sql", "-q", JOIN, "--format", "csv"],
    "pairs": ["pairs", "{corpus}", "-q", "--format", "csv"],
    "passages": ["passages", "{corpus}", "-q", "--format", "csv"],
}


def cpu_and_peak(pid):
    """The CPU seconds of a process that runs, and its peak memory in MiB."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    status = Path(f"/proc/{pid}/status").read_text()
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    return (int(fields[11]) + int(fields[12])) / TICKS, peak / 1024


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
        both = [cpu_and_peak(process.pid) for process in self.executors]
        return sum(cpu for cpu, _ in both), max(peak for _, peak in both)

    def end(self):
        for process in [*self.executors, self.scheduler]:
            process.kill()
            process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--executors", default="1,2")
    parser.add_argument("--partitions", default="8")
    parser.add_argument("--memory", default="4GiB")
    args = parser.parse_args()
    corpus = args.corpus.resolve()
    print("| | run by | s | CPU s | MiB | rows | digest |\n| --- |" + " --- |" * 6)

    def said(name, by, seconds, cpu, peak, rows, digest):
        print(f"| {name} | {by} | {seconds:.1f} | {cpu:.1f} | {peak:,.0f} | {rows} | {digest} |", flush=True)

    lines = {name: [part.replace("{corpus}", str(corpus)) for part in line] for name, line in WORK.items()}
    for name, line in lines.items():
        said(name, "one process", *run([args.bin / "ibid", *line], core=0))
    for count in map(int, args.executors.split(",")):
        folder = tempfile.mkdtemp()
        cluster = Cluster(args.bin / "ibid-cluster", count, args.memory, folder)
        try:
            for name, line in lines.items():
                tables = Path(folder) / "tables"
                before, _ = cluster.used()
                options = ["--cluster", f"df://{cluster.address}", "--partitions", args.partitions, "--tables", tables]
                seconds, cpu, _, rows, digest = run([args.bin / "ibid-cluster", *line, *options])
                after, peak = cluster.used()
                said(name, f"{count} executor{'s' if count > 1 else ''}", seconds, cpu + after - before, peak, rows, digest)
                shutil.rmtree(tables, ignore_errors=True)
        finally:
            cluster.end()
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
