"""Made-up reports for the tests of the page."""

import base64
import difflib
import random
import re

from page import units

WORDS = (
    "the covered code original modifications license source version under terms grant rights notice recipient "
    "distribute executable larger work contributor patent claims warranty liability damages law provision party "
    "agreement subject conditions made available any such each shall may not and or of to in with for by"
).split()
NAMES = ["Apple", "Mozilla", "California", "Cupertino", "Netscape", "Berkeley", "Oregon"]


def _sentence(random, count):
    words = [random.choice(WORDS) for _ in range(count)]
    words[0] = words[0].capitalize()
    if random.random() < 0.4:
        words[random.randrange(1, count)] = random.choice(NAMES)
    if random.random() < 0.4:
        words[random.randrange(1, count)] = str(random.randrange(1, 3000))
    return " ".join(words) + ". "


def _variant(random, sentence):
    words = sentence.split(" ")
    for at, word in enumerate(words):
        if random.random() < 0.12:
            words[at] = (
                str(random.randrange(1, 3000))
                if word.isdigit()
                else random.choice(NAMES)
                if word in NAMES
                else random.choice(WORDS)
            )
    return " ".join(words)


def edits(a, b):
    """Returns the edits from a to b by words."""
    first, second = (re.findall(r"\w+|\W", text) for text in (a, b))
    found, end = [], 0
    for kind, a_from, a_to, b_from, b_to in difflib.SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if kind != "equal":
            start = units("".join(first[:a_from]))
            old, new = "".join(first[a_from:a_to]), "".join(second[b_from:b_to])
            flags = any(c.isdigit() for c in old + new) | 2 * any(c.isupper() for c in old + new)
            found += [start - end, units(old), units(new), flags]
            end = start + units(old)
    return found


class Builder:
    """Builds a report."""

    def __init__(self, method="passages", columns=("date", "source", "author"), time=0):
        self.report = {
            "version": 1,
            "method": method,
            "result": "9f2c0123456789ab",
            "title": "Passages of data/licenses",
            "columns": list(columns),
            "time": time,
            "documents": [],
            "matches": [],
            "groups": [],
            "plots": [],
            "nouns": ["family", "families"],
            "totals": {"matches": 0, "groups": 0},
        }

    def document(self, id, text, values=(None, None, None), seconds=None, link=None, parts=None):
        """Adds a document with all of its text, or with parts of it."""
        self.report["documents"].append(
            {
                "id": id,
                "side": 0,
                "length": units(text),
                "values": list(values),
                "seconds": seconds,
                "link": link,
                "parts": parts or [[0, text]],
            }
        )
        return len(self.report["documents"]) - 1

    def match(self, a, b, at, between, sentences=None, similarity=0.9, kind=None, fields=None):
        """Adds a match."""
        self.report["matches"].append(
            {
                "key": f"{len(self.report['matches']) + 1:032x}",
                "a": a,
                "b": b,
                "at": at,
                "sentences": sentences,
                "similarity": similarity,
                "kind": kind,
                "fields": fields or {},
                "edits": between,
            }
        )
        self.report["totals"]["matches"] = len(self.report["matches"])
        return self.report["matches"][-1]


def cells(bins, found):
    """Encodes the cells of a plot."""
    encoded, before = bytearray(), 0
    for row, column, similarity in sorted(found):
        delta = row * bins + column - before
        before += delta
        while delta >= 0x80:
            encoded.append(delta & 0x7F | 0x80)
            delta >>= 7
        encoded += bytes([delta, similarity])
    return base64.b64encode(bytes(encoded)).decode()


def realistic():
    """Returns a report with passages of long documents, a family, a plot, and texts in several scripts."""
    dice = random.Random(1)
    build = Builder()
    sentences = [_sentence(dice, dice.randrange(8, 30)) for _ in range(300)]
    other = [_sentence(dice, dice.randrange(8, 30)) for _ in range(260)]
    shared = [(10, 5, 3), (40, 60, 5), (60, 72, 1), (100, 90, 8), (150, 30, 2), (200, 180, 6), (280, 250, 4)]
    for a, b, length in shared:
        for at in range(length):
            other[b + at] = _variant(dice, sentences[a + at])
    texts = ["".join(sentences), "".join(other)]
    starts = [[0], [0]]
    for own, listed in zip(starts, (sentences, other)):
        for sentence in listed:
            own.append(own[-1] + len(sentence))
    # The second document lacks what is far from its passages.
    second = texts[1]
    parts = [[0, second[:6000]], [starts[1][58], second[starts[1][58] : starts[1][110]]], [starts[1][170], second[starts[1][170] :]]]
    a = build.document("license:apsl-1.2", texts[0], ("1999-04-19", "spdx", "Apple"), 924480000, "https://example.org/apsl-1.2")
    b = build.document("license:apsl-2.0", second, ("2003-08-06", "fsf", None), 1060128000, "http://example.org/apsl?2.0#x", parts)
    for start_a, start_b, length in sorted(shared, key=lambda run: -run[2]):
        at = [starts[0][start_a], starts[0][start_a + length] - 1, starts[1][start_b], starts[1][start_b + length] - 1]
        one, two = texts[0][at[0] : at[1]], texts[1][at[2] : at[3]]
        ratio = round(difflib.SequenceMatcher(None, one.split(), two.split()).ratio(), 3)
        build.match(
            a, b, at, edits(one, two), [start_a, start_a + length, start_b, start_b + length], ratio,
            "factual_drift" if length < 4 else "reworded", {"rule": "similar", "score_back": "0.81"},
        )  # fmt: skip
    hebrew = ["בראשית ברא אלהים את השמים ואת הארץ בשנת 1990.", "בראשית ברא אלהים את הים ואת הארץ בשנת 2001."]
    chinese = ["学而时习之,不亦说乎?有朋自远方来,不亦乐乎?👩‍👩‍👧 一九九〇年", "学而时习之,不亦悦乎?有朋自远方来,不亦樂乎?👩‍👩‍👧 二〇〇一年"]
    marks = ["Cafe\u0301 a\u0308\u0323 e\u0301te\u0301 nai\u0308ve \0 \x07 \x1b[31m end", "Cafe\u0301 a\u0308 ete naive \0 \x07 \x1b[32m end"]
    for name, (one, two), source in [("hebrew", hebrew, "bible"), ("chinese", chinese, "lunyu"), ("marks", marks, "spdx")]:
        first = build.document(f"{name}:1", one, ("2010-01-01", source, None), 1262304000)
        again = build.document(f"{name}:2", two, (None, source, None))
        build.match(first, again, [0, units(one), 0, units(two)], edits(one, two), [0, 1, 0, 1], 0.8)
    # Pairs of short documents, so that the list has several pages.
    for number in range(120):
        one = _sentence(dice, 25)
        two = _variant(dice, one)
        seconds = 1262304000 + number * 86400 * 20
        source = ["web", "news", "books", "mail"][number % 4]
        first = build.document(f"note:{number:03}:a", one, ("2011-01-01", source, None), seconds)
        again = build.document(f"note:{number:03}:b", two, ("2012-01-01", "web", None), seconds + 86400 * 400)
        build.match(first, again, [0, len(one), 0, len(two)], edits(one, two), [0, 1, 0, 1], round(0.95 - number / 400, 3))
    # A family of common text.
    report = build.report
    base = _sentence(dice, 60)
    places = []
    for number in range(70):
        text = base if number == 3 else _variant(dice, base)
        document = build.document(
            f"page:{number:02}", text, (None, "web", None), 1000000000 + number * number * 86400, f"file:///tmp/page-{number}"
        )
        places.append(
            {
                "key": f"f{number:031x}", "document": document, "at": [0, len(text)], "representative": number == 3,
                "similarity": 0.9, "edits": edits(base, text),
            }  # fmt: skip
        )
    report["groups"].append(
        {"key": "a" * 32, "name": "12", "ignored": True, "documents": 90, "places": 104, "shown": places}
    )
    own = [
        {"key": f"e{at:031x}", "document": document, "at": [20, 400], "representative": at == 0, "similarity": None, "edits": []}
        for at, document in enumerate([a, b])
    ]
    report["groups"].append({"key": "b" * 32, "name": "13", "ignored": False, "documents": 2, "places": 2, "shown": own})
    bins = 128
    runs = shared + [(dice.randrange(280), dice.randrange(240), dice.randrange(1, 20)) for _ in range(60)]
    found = {
        ((start_a + at) * bins // 300, (start_b + at) * bins // 260): dice.randrange(150, 256)
        for start_a, start_b, length in runs
        for at in range(length)
        if start_a + at < 300 and start_b + at < 260
    }
    report["plots"].append({"a": a, "b": b, "bins": bins, "sentences": [300, 260], "cells": cells(bins, [(*cell, similarity) for cell, similarity in found.items()])})
    report["totals"] = {"matches": 5517, "groups": 147}
    return report


def long_sentence():
    """Returns a report with a match of one sentence of a megabyte."""
    build = Builder()
    words = [f"word{number % 977} " for number in range(125_000)]
    one = "".join(words)
    changed = list(words)
    between, end = [], 0
    for at in range(50, len(words), 100):
        start = units("".join(words[:at])) if at == 50 else start + sum(len(word) for word in words[at - 100 : at])
        changed[at] = "other "
        between += [start - end, len(words[at]), len("other "), 0]
        end = start + len(words[at])
    two = "".join(changed)
    a, b = build.document("long:1", one), build.document("long:2", two)
    build.match(a, b, [0, len(one), 0, len(two)], between, [0, 1, 0, 1], 0.99)
    return build.report


def many(count):
    """Returns a report of many matches of short texts."""
    dice = random.Random(2)
    build = Builder()
    texts = [_sentence(dice, 30) for _ in range(2000)]
    for number, text in enumerate(texts):
        build.document(f"many:{number}", text, (None, f"source {number % 700}", None), 1262304000 + number * 86400)
    for _ in range(count):
        a, b = dice.randrange(2000), dice.randrange(2000)
        at = [0, len(texts[a]), 0, len(texts[b])]
        build.match(a, b, at, [0, 5, 5, 0], [0, 1, 0, 1], round(dice.random(), 3))
    return build.report
