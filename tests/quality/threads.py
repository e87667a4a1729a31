"""How well fields and signatures tell near-duplicate threads, in the manner of QA-THREADS (table 1 and section 5.2).

threads.py --ibid PATH [--out DIR] [--threads FILE --labels FILE --label NAME --field NAME ...]

Prints two Markdown tables: the best F1 of each field alone by signature, and the figures of the fitted weights, within the
labelled pairs and held out. Without --threads the descriptions of Debian's packages, which packages.py makes in DIR.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

# The nine settings of the paper, and four that are not in it.
SETTINGS = {
    "2-shingles": "shingles:2",
    "3-shingles": "shingles:3",
    "4-shingles": "shingles:4",
    "winnowing (k = 3, w = 3)": "winnow:3,3",
    "winnowing (k = 5, w = 3)": "winnow:5,3",
    "I-Match [0.10, 0.90]": "i_match:0.1,0.9",
    "I-Match [0.20, 0.80]": "i_match:0.2,0.8",
    "SpotSigs (50 antecedents)": "spot_sigs:50",
    "SpotSigs (100 antecedents)": "spot_sigs:100",
    "words": "shingles:1",
    "subwords of 4": "subwords:4",
    "words, weighted": "weighted_shingles:1",
    "subwords of 4, weighted": "weighted_subwords:4",
}


def figures(args, signature, weights):
    fields = [part for field in args.field for part in ("--field", field)]
    with tempfile.TemporaryDirectory() as temporary:
        evaluation = Path(temporary) / "evaluation.ndjson"
        subprocess.run(
            [args.ibid, "threads", args.threads, *fields, "--signature", signature, "--labels", args.labels,
             "--label", args.label, "--evaluation", evaluation, "--evaluate-only", "-q", *weights], check=True)
        with open(evaluation, encoding="utf-8") as file:
            return {row["what"]: row for row in map(json.loads, file)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ibid", required=True, help="the program")
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "ibid-quality" / "packages")
    parser.add_argument("--threads", type=Path)
    parser.add_argument("--labels", type=Path)
    parser.add_argument("--label", default="label")
    parser.add_argument("--field", action="append")
    args = parser.parse_args()
    if not args.threads:
        args.threads, args.labels = args.out / "threads.jsonl", args.out / "labels.jsonl"
        args.field = args.field or ["title", "description", "answer"]
        if not args.labels.exists():
            packages = Path(__file__).parent / "packages.py"
            subprocess.run([sys.executable, packages, "--out", args.out], check=True)

    rows = {}
    for name, signature in SETTINGS.items():
        rows[name] = figures(args, signature, []), figures(args, signature, ["--weights", "fit"])
        print(name, file=sys.stderr)
    print(f"| signature | {' | '.join(args.field)} |\n| --- |{' --- |' * len(args.field)}")
    for name, (alone, _) in rows.items():
        shown = [f"{100 * alone[field]['f1']:.2f}" for field in args.field]
        print(f"| {name} | {' | '.join(shown)} |")
    print("\n| signature | weights | threshold | P | R | F1 | AUC | F1 held out | AUC held out |")
    print("| --- |" + " --- |" * 8)
    for name, (_, fitted) in rows.items():
        score, held_out = fitted["score"], fitted["score, held out"]
        weights = ", ".join(f"{fitted[field]['weight']:.2f}" for field in args.field)
        shown = [f"{100 * score[k]:.2f}" for k in ("precision", "recall", "f1")]
        print(f"| {name} | {weights} | {score['threshold']:.3f} | {' | '.join(shown)} | {score['auc']:.3f} | "
              f"{100 * held_out['f1']:.2f} | {held_out['auc']:.3f} |")


main()
