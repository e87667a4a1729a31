#!/usr/bin/env python3
"""Score located passages against the planted ones.

measure.py --gold DIR/gold.jsonl --found passages.ndjson
           [--min-located N] [--min-precision P] [--min-plagdet CATEGORY=X]

`found` is what `ibid passages --format ndjson` writes (doc_a, doc_b, char_a_start, char_a_end, char_b_start,
char_b_end), or has the gold's own column names. Prints one JSON object; exits 1 where a figure is below a bound
that was given.

located     planted passages that some detection overlaps on both sides
precision   the share of detections that overlap a planted passage on both sides
plagdet     of Potthast et al. 2010, with macro-averaged recall and precision and the granularity, over the gold's
            pairs of documents; for each category too
unlisted    detections in pairs of documents that the gold does not name: wrong for `planted`, unjudged otherwise
"""
import argparse
import json
import math
import sys
from collections import defaultdict

SPAN = ("susp_start", "susp_end", "src_start", "src_end")
OURS = ("char_a_start", "char_a_end", "char_b_start", "char_b_end")


def read(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f if line.strip()]


def detections(rows, listed):
    """((suspicious, source), span) of each row, turned round where the gold names the pair the other way."""
    for r in rows:
        if "doc_a" in r:
            pair, span = (r["doc_a"], r["doc_b"]), tuple(r[c] for c in OURS)
        else:
            pair, span = (r["suspicious_id"], r["source_id"]), tuple(r[c] for c in SPAN)
        if pair not in listed and pair[::-1] in listed:
            pair, span = pair[::-1], span[2:] + span[:2]
        yield pair, span


def overlap(s, r):
    return s[0] < r[1] and r[0] < s[1] and s[2] < r[3] and r[2] < s[3]


def union_length(intervals):
    total, end = 0, -1
    for a, b in sorted(intervals):
        total += max(0, b - max(a, end))
        end = max(end, b)
    return total


def covered(these, by):
    """The mean, over the passages of `these`, of the share of their characters that passages of `by` cover."""
    shares = []
    for pair, s in these:
        hits = [r for r in by[pair] if overlap(s, r)]
        both = sum(union_length([(max(s[i], r[i]), min(s[i + 1], r[i + 1])) for r in hits]) for i in (0, 2))
        shares.append(both / max(1, s[1] - s[0] + s[3] - s[2]))
    return sum(shares) / len(shares) if shares else 0.0


def by_pair(passages):
    out = defaultdict(list)
    for pair, span in passages:
        out[pair].append(span)
    return out


def figures(gold, found):
    g, f = by_pair(gold), by_pair(found)
    recall, precision = covered(gold, f), covered(found, g)
    hits = [n for pair, s in gold if (n := sum(overlap(s, r) for r in f[pair]))]
    granularity = sum(hits) / len(hits) if hits else 1.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    rounded = dict(plagdet=f1 / math.log2(1 + granularity), precision=precision, recall=recall, granularity=granularity)
    return {k: round(v, 4) for k, v in rounded.items()} | dict(passages=len(gold), detections=len(found))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--gold", required=True)
    p.add_argument("--found", required=True)
    p.add_argument("--min-located", type=int)
    p.add_argument("--min-precision", type=float)
    p.add_argument("--min-plagdet", action="append", default=[], metavar="CATEGORY=X", help="`entire` stands for all")
    args = p.parse_args()
    rows = read(args.gold)
    category = {(r["suspicious_id"], r["source_id"]): r["category"] for r in rows}
    gold = [((r["suspicious_id"], r["source_id"]), tuple(r[c] for c in SPAN))
            for r in rows if r["susp_start"] is not None]
    every = list(detections(read(args.found), category))
    found = [d for d in every if d[0] in category]
    g, f = by_pair(gold), by_pair(every)
    right = sum(any(overlap(s, r) for s in g[pair]) for pair, r in every)
    located = sum(any(overlap(s, r) for r in f[pair]) for pair, s in gold)
    out = dict(located=located, of=len(gold), detections=len(every), precision=round(right / max(1, len(every)), 4),
               unlisted=len(every) - len(found), plagdet=dict(entire=figures(gold, found)))
    for c in sorted(set(category.values())):
        mine = [d for d in found if category[d[0]] == c]
        planted = [x for x in gold if category[x[0]] == c]
        out["plagdet"][c] = figures(planted, mine) if planted else dict(detections=len(mine))
    print(json.dumps(out, indent=1, ensure_ascii=False))
    short = []
    for name, bound in (("located", args.min_located), ("precision", args.min_precision)):
        if bound is not None and out[name] < bound:
            short.append(f"{name} {out[name]} is below {bound}")
    for bound in args.min_plagdet:
        name, _, least = bound.partition("=")
        if "plagdet" not in out["plagdet"].get(name, ()):
            known = ", ".join(out["plagdet"])
            sys.exit(f"--min-plagdet {bound}: the gold has no passages of category {name}; it has {known}")
        if out["plagdet"][name]["plagdet"] < float(least):
            short.append(f"plagdet of {name} {out['plagdet'][name]['plagdet']} is below {least}")
    if short:
        sys.exit("\n".join(short))


if __name__ == "__main__":
    main()
