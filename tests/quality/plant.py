#!/usr/bin/env python3
"""Plant text reuse with known offsets into real documents, so that the engine can be measured.

plant.py planted --out DIR    3,000 documents, 337 copies of 3 to 8 sentences, one word changed in 30 % of the sentences
plant.py pan     --out DIR    suspicious and source documents in the manner of the PAN text alignment task: pairs with
                              verbatim passages, passages with words edited and shuffled, reworded ones, and none

The documents are pages of Debian documentation packages, which `apt-get download` brings into --debs. Nothing is
installed. The result depends on the seed and on the versions of the packages, which DIR/counts.json records. Writes
DIR/docs.jsonl (id, text, role) and DIR/gold.jsonl (suspicious_id, source_id, susp_start, susp_end, src_start, src_end,
category, kind, obfuscation; offsets in Unicode code points, half open; null offsets say that the pair has no passage).

No reuse is left beside what is planted: a sentence stays only if none of its runs of six words (or itself, if shorter)
occurs in a sentence that was kept before it, in its own or in another document. Pages with fewer than twelve sentences
left are dropped.
"""
import argparse
import gzip
import hashlib
import html.parser
import json
import math
import random
import re
import subprocess
import sys
import tarfile
from pathlib import Path

PACKAGES = """postgresql-doc-15 manpages manpages-dev git-doc libreoffice-help-en-us apache2-doc sqlite3-doc
debian-reference-en developers-reference harden-doc python3.11-doc""".split()
BLOCK = set("""address article aside blockquote body br caption dd div dl dt figcaption figure form h1 h2 h3 h4 h5 h6
head hr html li main ol p section table td th title tr ul""".split())
# Navigation and listings are no prose; a void element has no end tag, so it must not be here.
SKIP = {"footer", "header", "math", "nav", "noscript", "pre", "script", "style", "svg"}
RUN = 6
MIN_SENTENCES = 12
MAX_CHARACTERS = 100_000
SENTENCE_BREAK = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[A-Z\"'(\[])")
WORD = re.compile(r"\w+")
EDGE = re.compile(r"^(\W*)(.*?)(\W*)$", re.S)


# ---- pages ----------------------------------------------------------------------------------------------------------
class Blocks(html.parser.HTMLParser):
    """The text of a page, one string for each block element."""

    def __init__(self):
        super().__init__()
        self.out, self.skipping = [[]], 0

    def handle_starttag(self, tag, attrs):
        if tag in SKIP:
            self.skipping += 1
        elif tag in BLOCK:
            self.out.append([])

    def handle_endtag(self, tag):
        if tag in SKIP:
            self.skipping = max(0, self.skipping - 1)
        if tag in BLOCK or tag in SKIP:
            self.out.append([])

    def handle_data(self, data):
        if not self.skipping:
            self.out[-1].append(data)


def html_blocks(text):
    parser = Blocks()
    parser.feed(text)
    parser.close()
    return ["".join(parts) for parts in parser.out]


def man_blocks(text):
    blocks, listing = [[]], False
    for line in text.splitlines():
        if re.match(r"\.(nf|EX)\b", line) or re.match(r"\.(fi|EE)\b", line):
            listing = line.startswith((".nf", ".EX"))
        elif listing or line.startswith(('.\\"', "'\\\"")):
            continue
        elif re.match(r"\.(SH|SS|TH|TP|PP|P|LP|IP|HP)\b", line):
            blocks.append([])
        elif line.startswith("."):
            blocks[-1].append(" ".join(line.split(" ")[1:]).replace('"', ""))
        else:
            blocks[-1].append(line)
    return [re.sub(r"\\f[BIRP]|\\f\(..|\\&|\\-", "", " ".join(b)).replace("\\", "") for b in blocks]


def kind_of(path):
    """h HTML, m man page, None for everything else."""
    if re.search(r"/man/man[1-9]/[^/]+\.[1-9][a-z]*\.gz$", path):
        return "m"
    return "h" if re.search(r"\.x?html?(\.gz)?$", path) else None


def pages(deb):
    """(path, blocks) of every page of a package, in the order of the package."""
    process = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(deb)], stdout=subprocess.PIPE)
    with tarfile.open(fileobj=process.stdout, mode="r|") as tar:
        for member in tar:
            path = member.name.removeprefix("./")
            kind = kind_of(path)
            if not member.isfile() or kind is None or not 1000 <= member.size <= 2_000_000:
                continue
            data = tar.extractfile(member).read()
            text = (gzip.decompress(data) if path.endswith(".gz") else data).decode("utf-8", "replace")
            blocks = (html_blocks if kind == "h" else man_blocks)(text)
            yield path, [" ".join(b.split()) for b in blocks]
    if process.wait():
        sys.exit(f"dpkg-deb could not read {deb}; delete it, and it is downloaded again")


def find_deb(folder, package):
    found = sorted(folder.glob(f"{package}_*.deb"))
    return found[-1] if found else None


def download(packages, folder):
    folder.mkdir(parents=True, exist_ok=True)
    missing = [p for p in packages if not find_deb(folder, p)]
    if missing:
        subprocess.run(["apt-get", "-q", "download", *missing], cwd=folder, check=True, stdout=sys.stderr)
        missing = [p for p in packages if not find_deb(folder, p)]
    if missing:
        sys.exit(f"not in {folder} after the download: {' '.join(missing)}; choose others with --packages")


# ---- documents without reuse ----------------------------------------------------------------------------------------
class Document:
    """Paragraphs of sentences. `spans(text)` are the sentences' offsets in the text that `join` makes of them."""

    def __init__(self, name, package, paragraphs):
        self.name, self.package, self.paragraphs = name, package, paragraphs

    def sentences(self):
        return [s for p in self.paragraphs for s in p]

    def join(self, between):
        """The text with `between` after each paragraph but the last, and (start, end) of each sentence in it."""
        text, spans, at = [], [], 0
        for i, paragraph in enumerate(self.paragraphs):
            for j, sentence in enumerate(paragraph):
                gap = "" if i == j == 0 else between if j == 0 else " "
                text += [gap, sentence]
                spans.append((at + len(gap), at + len(gap) + len(sentence)))
                at = spans[-1][1]
        return "".join(text), spans


def is_english(blocks):
    """Some packages hold translations: English prose has some five words "the" in a hundred."""
    words = [w.lower() for b in blocks for w in WORD.findall(b)]
    return words.count("the") >= 0.02 * len(words)


def runs(sentence):
    words = [w.lower() for w in WORD.findall(sentence)]
    for i in range(max(1, len(words) - RUN + 1)):
        yield hashlib.blake2b(" ".join(words[i:i + RUN]).encode(), digest_size=8).digest()


def documents(packages, folder):
    """The documents of all packages, without any sentence that an earlier one holds already."""
    seen, out, versions = set(), [], {}
    for package in packages:
        deb = find_deb(folder, package)
        versions[package] = subprocess.check_output(["dpkg-deb", "-f", str(deb), "Version"], text=True).strip()
        for path, blocks in pages(deb):
            if not is_english(blocks):
                continue
            paragraphs, size, here = [], 0, set()
            for block in blocks:
                kept = []
                for sentence in SENTENCE_BREAK.split(block):
                    words = WORD.findall(sentence)
                    letters = sum(c.isalpha() or c == " " for c in sentence)
                    if len(words) < 3 or letters < 0.8 * len(sentence) or size > MAX_CHARACTERS:
                        continue
                    mine = set(runs(sentence))
                    if seen.isdisjoint(mine) and here.isdisjoint(mine):
                        kept.append(sentence)
                        size += len(sentence)
                        here |= mine
                if kept:
                    paragraphs.append(kept)
            if sum(map(len, paragraphs)) >= MIN_SENTENCES:
                out.append(Document(f"{package}:{path}", package, paragraphs))
                seen |= here
    return out, versions


class Vocabulary:
    """Draws words as often as the documents use them."""

    def __init__(self, docs, rng):
        self.docs, self.rng = docs, rng

    def word(self):
        while True:
            words = WORD.findall(self.rng.choice(self.rng.choice(self.docs).sentences()))
            words = [w for w in words if w.isalpha()]
            if words:
                return self.rng.choice(words).lower()

    def other_than(self, word):
        while (other := self.word()) == word.lower():
            pass
        return other


# ---- edits ----------------------------------------------------------------------------------------------------------
def change_one_word(sentence, vocabulary, rng):
    at = rng.choice([m.span() for m in WORD.finditer(sentence)])
    return sentence[:at[0]] + vocabulary.other_than(sentence[at[0]:at[1]]) + sentence[at[1]:]


def obfuscate(sentences, vocabulary, rng, delete, insert, replace, window, reorder=0.0, consistent=False):
    """Words deleted, inserted and replaced with the given probabilities, then phrases of one to five words shuffled
    within windows of so many phrases.

    Punctuation stays in its place in the sentence while the words move, as in the task this imitates. `consistent`
    replaces a word everywhere by the same other word, which is what synonyms and machine translation do.
    """
    sentences = list(sentences)
    if rng.random() < reorder:
        rng.shuffle(sentences)
    chosen, slots, words = {}, [], []
    for sentence in sentences:
        for token in sentence.split():
            left, word, right = EDGE.match(token).groups()
            if rng.random() < delete and not right:
                continue
            if consistent:
                key = word.lower()
                if key not in chosen:
                    chosen[key] = vocabulary.other_than(word) if rng.random() < replace else None
                word = chosen[key] or word
            elif rng.random() < replace:
                word = vocabulary.other_than(word)
            if rng.random() < insert:
                slots.append(("", ""))
                words.append(vocabulary.word())
            slots.append((left, right))
            words.append(word)
    phrases, at = [], 0
    while at < len(words):
        phrases.append(words[at:at + rng.randint(1, 5)])
        at += len(phrases[-1])
    words = []
    for at in range(0, len(phrases), window):
        some = phrases[at:at + window]
        rng.shuffle(some)
        words += [w for phrase in some for w in phrase]
    return " ".join(left + word + right for (left, right), word in zip(slots, words))


def rewrap(text, rng):
    """Hard line breaks at random places instead of spaces."""
    return "".join("\n" if c.isspace() and rng.random() < 0.03 else " " if c.isspace() else c for c in text)


OBFUSCATION = {
    "low": dict(delete=0.05, insert=0.05, replace=0.10, window=2),
    "medium": dict(delete=0.15, insert=0.10, replace=0.20, window=4, reorder=0.3),
    "high": dict(delete=0.25, insert=0.10, replace=0.30, window=8, reorder=0.5),
    "reworded": dict(delete=0.10, insert=0.10, replace=0.30, window=2, consistent=True),
}


# ---- sets -----------------------------------------------------------------------------------------------------------
def passage_row(susp, src, susp_span, src_span, category, obfuscation):
    return dict(suspicious_id=susp, source_id=src, susp_start=susp_span[0], susp_end=susp_span[1],
                src_start=src_span[0], src_end=src_span[1], category=category, kind="passage", obfuscation=obfuscation)


def planted(docs, rng, count=3000, copies=337):
    """Runs of three to eight sentences copied into another document; each document takes part in one copy at most."""
    if len(docs) < count:
        sys.exit(f"only {len(docs)} documents of the {count} needed: name more packages with --packages")
    docs = rng.sample(docs, count)
    texts, gold, vocabulary = {d.name: d.join("\n\n")[0] for d in docs}, [], Vocabulary(docs, rng)
    fit = [d for d in docs if long_runs(d)]
    part = rng.sample(fit, 2 * copies)
    for source, target in zip(part[:copies], part[copies:]):
        text, spans = source.join("\n\n")
        first = rng.choice(long_runs(source))
        length = 3
        while (length < 8 and first + length < len(spans) and is_long(text, spans[first + length])
               and rng.random() < 0.8):
            length += 1
        copy, changed = [], 0
        for n in range(first, first + length):
            sentence = text[slice(*spans[n])]
            if rng.random() < 0.3:
                sentence, changed = change_one_word(sentence, vocabulary, rng), changed + 1
            copy += [text[spans[n - 1][1]:spans[n][0]] if n > first else "", sentence]
        copy = "".join(copy)
        host, host_spans = target.join("\n\n")
        at = rng.choice(host_spans[1:])[0]
        texts[target.name] = f"{host[:at]}{copy} {host[at:]}"
        gold.append(passage_row(target.name, source.name, (at, at + len(copy)),
                                (spans[first][0], spans[first + length - 1][1]), "planted", f"{changed} of {length}"))
    return [dict(id=d.name, text=texts[d.name], role="both") for d in docs], gold


def is_long(text, span):
    return len(WORD.findall(text[slice(*span)])) >= 5


def long_runs(document):
    """Where three sentences of five words or more begin."""
    text, spans = document.join("\n\n")
    long = [is_long(text, s) for s in spans]
    return [i for i in range(len(long) - 2) if all(long[i:i + 3])]


def take_passage(text, spans, used, rng):
    """A run of unused sentences of 200 to 4,000 characters, short ones more often; None where none is left."""
    wanted = math.exp(rng.uniform(math.log(200), math.log(min(4000, max(201, len(text) / 2)))))
    for _ in range(20):
        first = last = rng.randrange(len(spans))
        while last + 1 < len(spans) and spans[last][1] - spans[first][0] < wanted:
            last += 1
        if spans[last][1] - spans[first][0] >= 200 and used.isdisjoint(range(first, last + 1)):
            used.update(range(first - 1, last + 2))
            return first, last
    return None


def pan(docs, rng, passages=300):
    """Suspicious documents with one category each, one to three sources, and one to three passages from a source."""
    vocabulary, gold, out = Vocabulary(docs, rng), [], []
    order = list(range(len(docs)))
    rng.shuffle(order)
    taken, sources = set(), {}
    plan = [("no-obfuscation", ["none"]), ("random-obfuscation", ["low", "medium", "high"]),
            ("reworded", ["reworded"]), ("no-plagiarism", [])]

    def source_near(n):
        """A document of the same package, hence of a like topic, that is no suspicious one."""
        near = [i for i in range(max(0, n - 40), min(len(docs), n + 41))
                if docs[i].package == docs[n].package and i != n and i not in taken]
        return rng.choice(near) if near else None

    for category, strengths in plan:
        done = 0
        while done < (passages if strengths else passages // 3):
            if not order:
                sys.exit("too few documents for so many passages: name more packages with --packages")
            n = order.pop()
            if n in sources:
                continue
            taken.add(n)
            inserts = []  # (sentence of the host before which it stands, text, source, span in the source, strength)
            host = docs[n].sentences()
            for m in {source_near(n) for _ in range(rng.choice((1, 1, 2, 3)))} - {None}:
                if m not in sources:
                    sources[m] = docs[m].join("\n")
                text, spans = sources[m]
                if not strengths:
                    gold.append(passage_row(docs[n].name, docs[m].name, (None, None), (None, None), category, None))
                    done += 1
                    continue
                used = set()
                for _ in range(rng.choice((1, 1, 2, 3))):
                    run = take_passage(text, spans, used, rng)
                    if run is None:
                        break
                    strength = rng.choice(strengths)
                    copy = [text[slice(*s)] for s in spans[run[0]:run[1] + 1]]
                    copy = obfuscate(copy, vocabulary, rng, **OBFUSCATION[strength]) if strength != "none" else \
                        " ".join(copy)
                    inserts.append((rng.randrange(len(host) + 1), rewrap(copy, rng), docs[m].name,
                                    (spans[run[0]][0], spans[run[1]][1]), strength))
            inserts.sort(key=lambda i: i[0])
            text, at = [], 0
            for k in range(len(host) + 1):
                while inserts and inserts[0][0] == k:
                    _, copy, source, span, strength = inserts.pop(0)
                    gold.append(passage_row(docs[n].name, source, (at, at + len(copy)), span, category, strength))
                    done += 1
                    text += [copy, " "]
                    at += len(copy) + 1
                if k < len(host):
                    sentence = rewrap(host[k], rng)
                    text += [sentence, " "]
                    at += len(sentence) + 1
            out.append(dict(id=docs[n].name, text="".join(text).rstrip(), role="susp"))
    out += [dict(id=docs[m].name, text=text, role="src") for m, (text, _) in sorted(sources.items())]
    return out, gold


def check(docs, gold):
    """The offsets must point into the texts, and a verbatim passage must read the same on both sides."""
    text = {d["id"]: d["text"] for d in docs}
    for g in gold:
        if g["susp_start"] is None:
            continue
        a = text[g["suspicious_id"]][g["susp_start"]:g["susp_end"]]
        b = text[g["source_id"]][g["src_start"]:g["src_end"]]
        if not a or not b or (g["obfuscation"] == "none" and a.split() != b.split()):
            sys.exit(f"wrong offsets, a fault of this script: {g}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("set", choices=["planted", "pan"])
    p.add_argument("--out", type=Path, required=True)
    p.add_argument("--debs", type=Path, help="where the packages lie or go (default OUT/debs)")
    p.add_argument("--packages", help="a comma-separated list instead of the usual one")
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    debs = args.debs or args.out / "debs"
    packages = args.packages.split(",") if args.packages else PACKAGES
    download(packages, debs)
    docs, versions = documents(packages, debs)
    made, gold = (planted if args.set == "planted" else pan)(docs, random.Random(args.seed))
    check(made, gold)
    for name, rows in (("docs.jsonl", made), ("gold.jsonl", gold)):
        with open(args.out / name, "w", encoding="utf-8") as f:
            f.writelines(json.dumps(r, ensure_ascii=False) + "\n" for r in rows)
    counts = dict(set=args.set, seed=args.seed, packages=versions, pages=len(docs), documents=len(made),
                  characters=sum(len(d["text"]) for d in made), gold=len(gold))
    (args.out / "counts.json").write_text(json.dumps(counts, indent=1) + "\n")
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
