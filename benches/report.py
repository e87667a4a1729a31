#!/usr/bin/env python3
"""Write the tables of docs/performance.md from the raw runs in benches/results: report.py, without arguments."""
import json
import re
import sys
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs/performance.md"
FIGURES = ("cpu", "wall", "rss_mib")


def read(path):
    """The environment, and for each workload its tools with the medians of their runs, or why there are none."""
    environment, *runs = map(json.loads, path.read_text().splitlines())
    works = {}
    for run in runs:
        works.setdefault(run["workload"], {}).setdefault(run["tool"], []).append(run)
    return environment, {work: {tool: summary(runs) for tool, runs in tools.items()} for work, tools in works.items()}


def summary(runs):
    bad = [run["status"] for run in runs if run["status"] != "ok"]
    return {**runs[0], **{figure: median(run[figure] for run in runs) for figure in FIGURES},
            "status": bad[0][:150] if bad else "ok"}


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def times(run, base):
    """How many times the CPU seconds of ibid."""
    return f"{run['cpu'] / base['cpu']:.1f}" if base and base["status"] == "ok" else ""


def joins(works):
    rows = []
    for work, tools in works.items():
        for tool, run in tools.items():
            figures = [f"{run['cpu']:.2f}", f"{run['wall']:.2f}", f"{run['rss_mib']:.0f}", f"{run['pairs']:,}",
                       times(run, tools.get("ibid"))] if run["status"] == "ok" else [run["status"], "", "", "", ""]
            rows.append([work, tool, *figures])
            work = ""
    return table(["pairs of", "tool", "CPU s", "wall s", "peak MiB", "pairs", "CPU, times ibid's"], rows)


def documents(tools):
    exact, rows = tools.get("ibid"), []
    for tool, run in tools.items():
        if run["status"] != "ok":
            rows.append([tool, run["status"], "", "", "", "", "", ""])
            continue
        right = run.get("right", run["pairs"])
        recall = f"{right / exact['pairs']:.4f}" if exact and exact["status"] == "ok" else ""
        rows.append([tool, f"{run['cpu']:.2f}", f"{run['wall']:.2f}", f"{run['rss_mib']:.0f}", f"{run['pairs']:,}", recall,
                     run["pairs"] - right, times(run, exact)])
    return table(["tool", "CPU s", "wall s", "peak MiB", "pairs", "recall", "pairs below", "CPU, times ibid's"], rows)


def steps(works):
    rows = []
    for work, tools in works.items():
        for threads in (", 1 thread", ""):
            reading, operator, lowered = (tools.get(f"{name}{threads}") for name in ("reading", "operator", "lowered"))
            if not (reading and operator and reading["status"] == operator["status"] == "ok"):
                continue
            alone = operator["cpu"] - reading["cpu"]
            rewritten = ["", ""]
            if lowered:
                rewritten = [lowered["status"], ""]
                if lowered["status"] == "ok":
                    rest = lowered["cpu"] - reading["cpu"]
                    rewritten = [f"{rest:.2f}", f"{alone / rest:.2g}"]
            rows.append([work.removeprefix("join alone, "), "1" if threads else "all", f"{reading['elements']:,}",
                         f"{operator['pairs']:,}", f"{reading['cpu']:.2f}", f"{alone:.2f}", *rewritten])
    return table(["pairs of", "threads", "elements", "pairs", "reading, CPU s", "operator", "lowered", "operator ÷ lowered"],
                 rows)


def filters(works):
    """The join step with all filters, and without each of them."""
    rows = []
    for work, tools in works.items():
        reading = tools.get("reading, 1 thread")
        if not reading or reading["status"] != "ok":
            continue
        for name in ("operator", "without prefix", "without position", "without bitmap"):
            run = tools.get(f"{name}, 1 thread")
            if run:
                figure = f"{run['cpu'] - reading['cpu']:.2f}" if run["status"] == "ok" else run["status"]
                rows.append([work.removeprefix("filters, "), "all" if name == "operator" else name, figure])
                work = ""
    return table(["pairs of", "filters", "CPU s"], rows)


def packages(e):
    """Returns the packages that texts are of, or how many there are."""
    named = ", ".join(f"{name} {version}" for name, version in e["packages"].items())
    return f"{len(e['packages'])} packages" if len(e["packages"]) > 4 else named


def circumstances(e):
    """Returns what figures were taken on, with what, and how often."""
    tools = ", ".join(f"{name} {version}" for name, version in e["versions"].items())
    return (f"{e['date']}, {e['cpu']}, {e['cores']} cores, {e['memory_gib']} GiB, Linux {e['kernel']}; {e['ibid']} "
            f"({e['commit']}); Python {e['python']}, {tools}. Medians of {e['repeat']} runs; of one where it took over "
            f"{e['once_s']} s.")


def tables(path):
    e, works = read(path)
    out = [f"{e['sentences']:,} sentences and {e['documents']:,} documents of {packages(e)}. {circumstances(e)}"]
    alone = {work: works.pop(work) for work in list(works) if work.startswith("join alone")}
    by_document = {work: works.pop(work) for work in list(works) if work.startswith("documents")}
    off = {work: works.pop(work) for work in list(works) if work.startswith("filters")}
    if works:
        out.append(joins(works))
    out += [f"Documents: {work.removeprefix('documents, ')}.\n\n{documents(tools)}" for work, tools in by_document.items()]
    if alone:
        out.append(f"The join step alone, in CPU seconds beyond reading the sets:\n\n{steps(alone)}")
    if off:
        out.append(f"The filters of the operator, in CPU seconds of the join step on one thread:\n\n{filters(off)}")
    return "\n\n".join(out)


def write():
    page = PAGE.read_text()
    for path in sorted((HERE / "results").glob("*.jsonl")):
        begin, end = f"<!-- {path.name} -->\n", "<!-- end -->"
        written = re.sub(re.escape(begin) + ".*?" + end, lambda _: f"{begin}{tables(path)}\n{end}", page, flags=re.S)
        if begin not in page:
            sys.exit(f"{PAGE} has no place for {path.name}: add the lines {begin!r} and {end!r}")
        page = written
    PAGE.write_text(page)


if __name__ == "__main__":
    write()
