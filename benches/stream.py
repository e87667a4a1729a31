#!/usr/bin/env python3
"""Replay dated documents through `ibid containment INDEX --add`, as a stream and in batches, and print what it took.

stream.py --ibid PATH [--package NAME …] [--out DIR] [--packages DIR] [--method OPTIONS]

The documents are made of the sentences of Debian packages of documentation, which come with `apt-get download`: stories of 8 to 20
sentences, one a minute; one in seven takes in an earlier one, and one in ten is the first two thirds of one.

1. 20,000 stories in a stream with a window of a tenth of them: the seconds of each tenth.
2. The same in ten batches.
3. 5,000 stories in a stream after 100,000, all of which are in the window: documents a second, and the time from line to line.
"""
import argparse
import json
import random
import resource
import shlex
import shutil
import subprocess
import threading
import time
from pathlib import Path

import corpus

START = 1_700_000_000
STREAMED = 20_000
RESIDENT = 100_000


def sentences(ibid, names, out, packages):
    """The distinct sentences of the packages, in order."""
    table = out / "sentences.ndjson"
    if not table.exists():
        shutil.rmtree(out / "texts", ignore_errors=True)
        packages.mkdir(parents=True, exist_ok=True)
        for name in names:
            corpus.unpack(corpus.fetch(name, packages)[0], out / "texts" / name)
        run = lambda *command: subprocess.run([ibid, *command], cwd=out, check=True)
        run("ingest", "-q", "texts", "-o", "corpus", "--on-error", "skip", "--max-record-bytes", "64MiB")
        run("sql", "-q", "SELECT text FROM 'corpus/sentences.parquet' WHERE length(text) > 40 ORDER BY doc_id, sent",
            "-o", "part.ndjson")
        for folder in ("texts", "corpus"):
            shutil.rmtree(out / folder)
        (out / "part.ndjson").rename(table)
    with open(table) as lines:
        return list(dict.fromkeys(json.loads(line)["text"] for line in lines))


def stories(texts, count):
    """So many stories as JSON lines."""
    dice, told, lines = random.Random(6), [], []
    for number in range(count):
        story, kind = dice.sample(texts, dice.randint(8, 20)), dice.random()
        if told and kind < 1 / 7:
            story = story[:4] + dice.choice(told[-1000:]) + story[4:8]
        elif told and kind < 1 / 7 + 1 / 10:
            story = dice.choice(told[-1000:])
            story = story[: max(2, len(story) * 2 // 3)]
        told.append(story[:20])
        lines.append(json.dumps({"id": f"s{number:06}", "at": START + 60 * number, "text": " ".join(story)}) + "\n")
    return lines


def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    return str(folder)


def feed(pipe, lines):
    with pipe:
        pipe.writelines(lines)


def stream(command, lines, marks=()):
    """Feeds the lines as fast as they are taken; gives when the answers at `marks` were there, how many rows, and what was said."""
    process = subprocess.Popen(command + ["--add", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
    threading.Thread(target=feed, args=(process.stdin, lines), daemon=True).start()
    times, rows = [], 0
    for number, line in enumerate(process.stdout, 1):
        rows += len(json.loads(line)["rows"])
        if number in marks:
            times.append(time.monotonic())
    said = process.stderr.read().strip()
    if process.wait() != 0:
        raise SystemExit(said)
    return times, rows, said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ibid", required=True, help="the program, an optimised build")
    parser.add_argument("--package", nargs="+", default=["linux-doc-6.1"], help="Debian packages (default linux-doc-6.1)")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent.parent / "target/bench/stream")
    parser.add_argument("--packages", type=Path, help="where the packages lie or go (default OUT/packages)")
    parser.add_argument("--method", default="", help="options of ibid containment, such as '--unit sentence'")
    args = parser.parse_args()
    out = args.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    ibid = str(Path(shutil.which(args.ibid)).resolve())
    texts = sentences(ibid, args.package, out, args.packages or out / "packages")
    lines = stories(texts, RESIDENT + 5000)
    print(f"{len(texts):,} sentences, {sum(map(len, lines)) / len(lines):.0f} bytes a story", flush=True)

    tenth = STREAMED // 10
    method = shlex.split(args.method)
    command = [ibid, "containment", fresh(out / "index"), "--time-column", "at", *method]
    window = ["--window", f"{60 * tenth}s"]
    began, before = time.monotonic(), cpu()
    times, rows, said = stream(command + window, lines[:STREAMED], range(tenth, STREAMED + 1, tenth))
    seconds = [b - a for a, b in zip([began, *times], times)]
    print(f"\n20,000 in a stream, {rows:,} rows, {cpu() - before:.1f} CPU s\n{said}")
    print("seconds of each tenth: " + ", ".join(f"{s:.2f}" for s in seconds), flush=True)

    command[2] = fresh(out / "index")
    seconds, before = [], cpu()
    for number in range(10):
        batch = out / "batch.jsonl"
        batch.write_text("".join(lines[number * tenth : (number + 1) * tenth]))
        began = time.monotonic()
        subprocess.run(command + window + ["-q", "--add", batch, "-o", out / "rows.parquet"], check=True)
        seconds.append(time.monotonic() - began)
    print(f"\n20,000 in ten batches, {cpu() - before:.1f} CPU s")
    print("seconds of each batch: " + ", ".join(f"{s:.2f}" for s in seconds), flush=True)

    command[2] = fresh(out / "index")
    window = ["--window", f"{60 * len(lines)}s"]
    stream(command + window, lines[:RESIDENT])
    print(f"\n5,000 in a stream after 100,000\n{stream(command + window, lines[RESIDENT:])[2]}")
    shutil.rmtree(out / "index")


main()
