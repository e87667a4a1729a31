"""Precision, recall and plagdet of `ibid passages` for several settings, as a Markdown table.

table.py --ibid PATH [--out DIR] [--set NAME=FOLDER ...] [--quick]

Makes the two planted sets with plant.py (Debian documentation packages, got with `apt-get download`) unless they are in
DIR already, runs the program over each with each setting, and scores what it found with measure.py. --set adds a folder
with docs.jsonl and gold.jsonl, such as one of the PAN text alignment corpora. --quick runs the two profiles only.
"""
import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
PROFILES = [("verbatim", []), ("edited", ["--profile", "edited"])]
SETTINGS = [
    *((f"threshold {t}", ["--threshold", t]) for t in ("0.34", "0.5", "0.7", "0.9")),
    *((f"min words {n}", ["--min-words", n]) for n in ("8", "10", "20", "25", "30")),
    *((f"common {k}", ["--common", k]) for k in ("5", "10", "40", "none")),
    *((f"edited, gap {n}", ["--profile", "edited", "--max-gap", n]) for n in ("0", "2", "8")),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ibid", required=True, help="the program")
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "ibid-quality")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()

    sets = {}
    for name in ("planted", "pan"):
        folder = args.out / name
        if not (folder / "gold.jsonl").exists():
            folder.mkdir(parents=True, exist_ok=True)
            subprocess.run([sys.executable, HERE / "plant.py", name, "--out", folder], check=True, stdout=sys.stderr)
        sets[name] = folder
    sets.update((name, Path(folder)) for name, folder in (given.split("=", 1) for given in args.set))

    print("| set | setting | located | precision | plagdet by kind of passage | seconds |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, folder in sets.items():
        for setting, options in PROFILES + ([] if args.quick else SETTINGS):
            with tempfile.TemporaryDirectory() as temporary:
                found = Path(temporary) / "found.ndjson"
                began = time.time()
                command = [args.ibid, "passages", folder / "docs.jsonl", "-q", "-o", found, *options]
                subprocess.run(command, check=True)
                seconds = time.time() - began
                measured = subprocess.run(
                    [sys.executable, HERE / "measure.py", "--gold", folder / "gold.jsonl", "--found", found],
                    check=True, stdout=subprocess.PIPE)
            m = json.loads(measured.stdout)
            kinds = ", ".join(f"{kind} {figures['plagdet']:.3f}" for kind, figures in m["plagdet"].items()
                              if "plagdet" in figures)
            print(f"| {name} | {setting} | {m['located']} of {m['of']} | {m['precision']:.3f} | {kinds} | {seconds:.1f} |",
                  flush=True)


main()
