"""The page of reports, by itself: its views, keys, verdicts, and safety, on made-up reports."""

import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

import page as assembled
import sample
from checks import CHECK, pictures, rows, shown_texts
from payloads import PAYLOADS
from sample import Builder, units

VIEWS = {
    "overview": "",
    "matches": "#view=matches",
    "match": f"#view=match&match={2:032x}",
    "groups": "#view=groups",
    "group": f"#view=group&group={'a' * 32}",
    "plot": "#view=plot",
    "verdicts": "#view=verdicts",
}


@pytest.fixture(scope="session")
def report():
    return sample.realistic()


@pytest.fixture(scope="session")
def path(report, tmp_path_factory):
    written = tmp_path_factory.mktemp("page") / "report.html"
    written.write_text(assembled.page(report), encoding="utf-8")
    return written


def section(text, start, end):
    """Returns a range of UTF-16 units."""
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


def side_text(report, document, start, end):
    for at, part in report["documents"][document]["parts"]:
        if at <= start and end <= at + units(part):
            return section(part, start - at, end - at)
    raise AssertionError("the report lacks the text")


# Modules


def test_modules_are_one_script():
    script = assembled.script()
    assert "import " not in re.sub(r"/\*.*?\*/|//.*", "", script, flags=re.DOTALL)
    names = re.findall(r"^(?:async )?(?:function|const|let|class) (\w+)", script, flags=re.MULTILINE)
    assert len(names) == len(set(names)) > 80
    assert sorted(assembled.MODULES) == sorted(file.stem for file in assembled.PAGE.glob("*.js"))
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function|fetch\(", script)


# Addresses


def test_fragment_keeps_the_view(opener, path):
    page = opener.open(path)
    expect(page.locator("#overview")).to_be_visible()
    expect(page.locator("#plain")).to_be_hidden()
    page.locator("nav a", has_text="Matches").click()
    expect(page.locator("#app h2")).to_have_text("Matches")
    expect(page.locator("#app h2")).to_be_focused()
    expect(page.locator("nav a[aria-current]")).to_contain_text("Matches")
    assert page.title() == "Matches – Passages of data/licenses"
    page.get_by_label("Find in texts and ids").fill("hebrew")
    expect(rows(page)).to_have_count(1)
    rows(page).locator("a").click()
    expect(page.locator("#app h2")).to_contain_text("hebrew:1")
    address = page.url
    assert "find=hebrew" in address and "view=match" in address
    page.go_back()
    expect(page.get_by_label("Find in texts and ids")).to_have_value("hebrew")
    expect(rows(page).locator("a")).to_be_focused()
    page.go_back()
    expect(page.locator("#overview")).to_be_visible()
    page.go_forward()
    page.go_forward()
    expect(page.locator("#app h2")).to_contain_text("hebrew:1")
    again = opener.open(path, address[address.index("#") :])
    expect(again.locator("#app h2")).to_contain_text("hebrew:1")
    again.keyboard.press("Escape")
    expect(again.get_by_label("Find in texts and ids")).to_have_value("hebrew")


def test_fragments_of_states_round_trip(opener, path):
    script = assembled.script().replace("\nstart();\n", "\n")
    page = opener.open(path)
    values = [
        {"find": "a&b=c#d%20+\u0000 學", "view": "matches", "length": 120, "low": 0.25, "sort": "ids"},
        {"view": "plot", "a": "x y\n", "b": "<b>"},
        {"view": "match", "match": "0f", "from": "2001-02-03", "column": "__proto__", "value": "&"},
        {},
    ]
    kept = page.evaluate(
        f"(values) => {{{script}\nreturn values.map((value) => {{"
        "const state = { ...START, ...value };"
        "return JSON.stringify(parseFragment(formatFragment(state))) === JSON.stringify(state); }) }",
        values,
    )
    assert kept == [True] * len(values)
    odd = ["#", "#plain", "#view=x", "#view", "#%", "#view=matches&length=-1&low=x&high=2&sort=z&__proto__=1&toString=2"]
    parsed = page.evaluate(f"(odd) => {{{script}\nreturn odd.map((fragment) => parseFragment(fragment)) }}", odd)
    assert [state["view"] for state in parsed] == ["overview"] * 5 + ["matches"]
    assert (parsed[-1]["length"], parsed[-1]["low"], parsed[-1]["high"], parsed[-1]["sort"]) == (0, 0, 1, "best")


@pytest.mark.parametrize("fragment", ["#view=match&match=zz", "#view=group&group=zz", "#view=plot&a=x&b=y"])
def test_unknown_subjects_are_said(opener, path, fragment):
    page = opener.open(path, fragment)
    expect(page.locator("#app h2")).to_have_text(re.compile("not in the report|Dot plot"))


# Lists


def test_filters(opener, path, report):
    page = opener.open(path, "#view=matches")
    count = page.locator("#app .count")
    matches, documents = report["matches"], report["documents"]
    total = len(matches)
    expect(count).to_have_text(f"50 of {total} matches shown; {5517 - total:,} further matches of the result not in the report")
    page.get_by_role("button", name="Show 50 more").click()
    expect(rows(page)).to_have_count(100)
    expect(rows(page).nth(50).locator("a")).to_be_focused()

    def shown(expected):
        expect(count).to_contain_text(f"of {len(expected)} matches shown" if len(expected) != 1 else "1 of 1 match shown")
        keys = rows(page).evaluate_all("rows => rows.map((row) => row.dataset.key)")
        assert keys == [match["key"] for match in expected][:50]

    def has(match, column, value):
        return value in (documents[match["a"]]["values"][column], documents[match["b"]]["values"][column])

    def length(match):
        return min(match["at"][1] - match["at"][0], match["at"][3] - match["at"][2])

    page.get_by_label("Value in either document").select_option("news")
    shown([match for match in matches if has(match, 1, "news")])
    page.get_by_label("Least characters").fill("170")
    expected = [match for match in matches if has(match, 1, "news") and length(match) >= 170]
    shown(expected)
    page.get_by_label("Similarity to").fill("0.9")
    shown([match for match in expected if match["similarity"] <= 0.9])
    page.get_by_role("button", name="Clear filters").click()
    shown(matches)
    expect(page.get_by_label("Least characters")).to_have_value("")
    page.get_by_label("Kind").select_option("factual_drift")
    shown([match for match in matches if match["kind"] == "factual_drift"])
    page.get_by_role("button", name="Clear filters").click()
    page.get_by_label("From day").fill("2003-08-06")
    page.get_by_label("To day").fill("2003-08-06")
    shown([match for match in matches if match["a"] == 0])
    page.get_by_role("button", name="Clear filters").click()
    page.get_by_label("Find in texts and ids").fill("亦悦")
    shown([match for match in matches if documents[match["a"]]["id"] == "chinese:1"])
    page.get_by_label("Find in texts and ids").fill("no such words")
    expect(count).to_contain_text("No match fits the filters")
    page.get_by_label("Find in texts and ids").fill("")
    page.get_by_label("Sort").select_option("length")
    shown(sorted(matches, key=lambda match: -length(match)))
    page.get_by_label("Sort").select_option("similarity")
    shown(sorted(matches, key=lambda match: -match["similarity"]))
    page.get_by_label("Sort").select_option("oldest")

    def seconds(match):
        known = [documents[match[side]]["seconds"] for side in "ab" if documents[match[side]]["seconds"] is not None]
        return max(known)

    shown(sorted(matches, key=seconds))


def test_many_matches_stay_fast(opener):
    page = opener.open(sample.many(100_000), "#view=matches")
    expect(page.locator("#app .count")).to_contain_text("50 of 100,000")
    script = """async ([label, value]) => {
        const field = [...document.querySelectorAll("label.field")].find((field) => field.textContent.startsWith(label))
            .querySelector("input, select");
        const start = performance.now();
        const before = document.querySelector("#app .rows");
        field.value = value;
        field.dispatchEvent(new Event(field.tagName === "SELECT" ? "change" : "input"));
        while (document.querySelector("#app .rows") === before && performance.now() - start < 5000) {
            await new Promise((resolve) => setTimeout(resolve, 5));
        }
        return performance.now() - start;
    }"""
    for change in [("Find", "warranty"), ("Find", "many:77"), ("Value", "source 5"), ("Similarity from", "0.99"), ("Sort", "ids")]:
        assert page.evaluate(script, change) < 2500, change


# Reading


def test_characters_shown_are_the_slice(opener, path, report):
    page = opener.open(path)
    for match in report["matches"][:14]:
        page.evaluate("(key) => { location.hash = `#view=match&match=${key}`; }", match["key"])
        passage = page.locator(".passage[aria-current]")
        expect(passage).to_have_attribute("data-key", match["key"])
        at = match["at"]
        expected = [side_text(report, match["a"], at[0], at[1]), side_text(report, match["b"], at[2], at[3])]
        assert shown_texts(page, passage) == [pictures(text) for text in expected]
        # What is not marked is equal on both sides.
        equal = passage.locator(".text").evaluate_all(
            """texts => texts.map((text) => [...text.childNodes]
                .filter((node) => node.nodeName === "#text").map((node) => node.data).join("|"))"""
        )
        assert equal[0] == equal[1]


def test_marks_of_numbers_and_names(opener, path, report):
    match = next(match for match in report["matches"] if any(flag & 1 for flag in match["edits"][3::4]))
    page = opener.open(path, f"#view=match&match={match['key']}")
    passage = page.locator(".passage[aria-current]")
    flags = match["edits"][3::4]
    assert passage.locator(".side:first-child mark.number").count() == sum(flag & 1 for flag in flags)
    assert passage.locator(".side:first-child mark.name").count() == sum(flag >> 1 for flag in flags)


def test_missing_words_are_marked(opener):
    build = Builder()
    a, b = build.document("a", "one two three"), build.document("b", "two and three four")
    build.match(a, b, [0, 13, 0, 18], [0, 4, 0, 0, 4, 0, 4, 0, 5, 0, 5, 1])
    page = opener.open(build.report, f"#view=match&match={1:032x}")
    sides = page.locator(".passage .text").evaluate_all(
        """texts => texts.map((text) => [...text.childNodes].map((node) => `${node.nodeName} ${node.textContent}`))"""
    )
    assert sides == [
        ["MARK one ", "#text two ", "MARK ", "#text three", "MARK "],
        ["MARK ", "#text two ", "MARK and ", "#text three", "MARK  four"],
    ]
    expect(page.locator(".passage .meta")).to_contain_text("3 differences1 in numbers")
    both = page.locator(".passage .text").first.locator("mark").last
    expect(both).to_have_class("number")


def test_context_is_shown_folded_or_missing(opener, path, report):
    page = opener.open(path, f"#view=match&match={2:032x}")
    expect(page.locator(".passage")).to_have_count(7)
    contexts = page.locator(".context-row")
    expect(contexts).to_have_count(8)
    whole = report["documents"][0]["parts"][0][1]
    fold = contexts.first.locator("details").first
    fold.locator("summary").click()
    opened = contexts.first.locator(".side").first.locator(".text").evaluate_all(
        "texts => texts.map((text) => text.textContent).join('')"
    )
    first = min(match["at"][0] for match in report["matches"] if match["a"] == 0)
    assert opened == whole[:first]
    assert page.locator(".context-row .missing", has_text="not in the report").count() > 0


def test_keys_move_through_passages_and_the_list(opener, path):
    page = opener.open(path, f"#view=match&match={1:032x}")
    count = page.locator("#app .count")
    expect(count).to_contain_text("Passage 4 of 7")
    page.keyboard.press("n")
    expect(count).to_contain_text("Passage 5 of 7")
    page.keyboard.press("j")
    expect(count).to_contain_text("Passage 6 of 7")
    expect(page.locator(".passage[aria-current] h3")).to_be_focused()
    page.keyboard.press("p")
    page.keyboard.press("k")
    expect(count).to_contain_text("Passage 4 of 7")
    for _ in range(4):
        page.keyboard.press("n")
    expect(page.locator("#app h2")).to_contain_text("hebrew:1")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#app h2")).to_contain_text("chinese:1")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#app h2")).to_contain_text("hebrew:1")
    page.keyboard.press("Escape")
    expect(page.locator("#app h2")).to_have_text("Matches")
    expect(page.locator("#app .row:focus-within")).to_contain_text("hebrew:1")
    page.go_back()
    expect(page.locator("#app h2")).to_contain_text("hebrew:1")
    page.get_by_label("Keys").uncheck()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("s")
    expect(page.locator("#app h2")).to_contain_text("hebrew:1")
    expect(page.get_by_role("button", name="Same text")).to_have_attribute("aria-pressed", "false")


def test_all_passages_of_a_pair_can_be_shown(opener):
    build = Builder()
    text = "".join(f"Sentence number {at} of the text. " for at in range(200))
    a, b = build.document("a", text), build.document("b", text)
    for at in range(100):
        build.match(a, b, [at * 50, at * 50 + 20, at * 50, at * 50 + 20], [], None, None)
    page = opener.open(build.report, f"#view=match&match={50:032x}")
    expect(page.locator(".passage")).to_have_count(25)
    expect(page.locator(".meta").first).to_contain_text("equal")
    page.get_by_role("button", name="Show 24 later passages").click()
    page.get_by_role("button", name="Show 24 earlier passages").click()
    expect(page.locator(".passage")).to_have_count(73)
    page.get_by_role("button", name="Show 13 earlier passages").click()
    page.get_by_role("button", name="Show 14 later passages").click()
    expect(page.locator(".passage")).to_have_count(100)
    assert page.locator(".passages button").count() == 0


def test_sentence_of_a_megabyte(opener):
    report = sample.long_sentence()
    page = opener.open(report, f"#view=match&match={1:032x}")
    text = page.locator(".passage .text").first
    expect(text).to_be_visible()
    assert len(text.text_content()) == 20_000
    page.get_by_role("button", name=re.compile("Show 100,000 of .* more characters")).first.click()
    assert len(text.text_content()) == 120_000
    assert report["documents"][0]["parts"][0][1].startswith(text.text_content())
    page.keyboard.press("Escape")
    expect(rows(page)).to_have_count(1)


def test_scripts_of_the_world(opener, path, report):
    page = opener.open(path, f"#view=match&match={8:032x}")
    text = page.locator(".passage .text").first
    assert text.evaluate("text => getComputedStyle(text).direction") == "rtl"
    expect(page.locator(".passage mark.number").first).to_have_text("1990")
    page.evaluate("() => { location.hash = `#view=match&match=${'9'.padStart(32, '0')}`; }")
    expect(page.locator("#app h2")).to_contain_text("chinese:1")
    expect(page.locator(".passage .text").first).to_contain_text("👩‍👩‍👧")
    page.evaluate("() => { location.hash = `#view=match&match=${'a'.padStart(32, '0')}`; }")
    expect(page.locator("#app h2")).to_contain_text("marks:1")
    expect(page.locator(".passage .text").first).to_contain_text("␀ ␇ ␛[31m")


# Dot plot


def plot_point(page, extent, x, y):
    """Returns a position on the canvas of a point of the plot."""
    box = page.locator("canvas").bounding_box()
    return {"x": x / extent[0] * box["width"], "y": y / extent[1] * box["height"]}


def test_click_on_the_plot_opens_the_match(opener, path, report):
    page = opener.open(path, "#view=plot")
    for match in report["matches"][:7]:
        sentences = match["sentences"]
        middle = ((sentences[0] + sentences[1]) / 2, (sentences[2] + sentences[3]) / 2)
        page.locator("canvas").click(position=plot_point(page, (300, 260), *middle))
        passage = page.locator(".passage[aria-current]")
        expect(passage).to_have_attribute("data-key", match["key"])
        texts = [side_text(report, 0, *match["at"][:2]), side_text(report, 1, *match["at"][2:])]
        assert shown_texts(page, passage) == texts
        page.go_back()
        expect(page.locator("#app h2")).to_have_text("Dot plot")
    page.locator("canvas").click(position=plot_point(page, (300, 260), 290, 20))
    expect(page.locator("#app [role=status]")).to_contain_text("No passage")


def test_the_plot_is_drawn(opener, path):
    page = opener.open(path, "#view=plot")
    inked = page.locator("canvas").evaluate(
        """canvas => { const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        let inked = 0; for (let at = 3; at < data.length; at += 4) { inked += data[at] > 0 ? 1 : 0; } return inked; }"""
    )
    assert inked > 1000
    expect(page.locator(".plot-legend")).to_contain_text("common text")
    expect(page.locator("#app figcaption")).to_contain_text("300 sentences")


def test_keys_of_the_plot(opener, path, report):
    page = opener.open(path, "#view=plot")
    page.locator("canvas").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    status = page.locator("#app [role=status]")
    expect(status).to_have_text("Passage 2 of 7: sentences 41–45 ↔ 61–65, similarity 0.845")
    page.keyboard.press("End")
    expect(status).to_contain_text("Passage 7 of 7")
    page.keyboard.press("Enter")
    expect(page.locator("#app .count")).to_contain_text("Passage 7 of 7")
    page.get_by_role("link", name="Dot plot of these documents").click()
    expect(page.locator("#app h2")).to_have_text("Dot plot")
    page.get_by_label("Documents").select_option(label="hebrew:1 ↔ hebrew:2 (1)")
    expect(page.locator("#app figcaption")).to_contain_text("hebrew:1, about 1 sentence")
    assert "a=hebrew" in page.url
    page.go_back()
    expect(page.locator("#app figcaption")).to_contain_text("300 sentences")


def test_plot_without_sentences_is_in_characters(opener):
    build = Builder()
    a, b = build.document("a", "x" * 1000), build.document("b", "x" * 500)
    build.match(a, b, [100, 200, 300, 400], [], None)
    build.match(b, a, [0, 100, 800, 900], [], [0, 1, 5, 6])
    page = opener.open(build.report, "#view=plot")
    expect(page.locator("#app figcaption")).to_have_text(re.compile("1,000 characters.*500 characters"))
    page.locator("canvas").click(position=plot_point(page, (1000, 500), 850, 50))
    expect(page.locator(".passage[aria-current]")).to_have_attribute("data-key", f"{2:032x}")
    expect(page.locator(".passage[aria-current] .which").first).to_have_text("b")


# Groups


def test_groups_and_their_places(opener, path, report):
    page = opener.open(path, "#view=groups")
    expect(page.locator("#app .count")).to_have_text("2 of 2 families shown; 145 further families of the result not in the report")
    expect(rows(page).first).to_contain_text("ignored")
    rows(page).first.locator("a").click()
    expect(page.locator("#app .count")).to_have_text("50 of 70 places shown; 34 further places not in the report")
    base = report["documents"][report["groups"][0]["shown"][3]["document"]]["parts"][0][1]
    expect(page.locator(".representative .text")).to_have_text(base)
    expect(page.locator(".timeline figcaption")).to_have_text("70 places by year, 2001 to 2014; most in 2001: 11")
    assert page.locator(".timeline .bar").count() == 14
    place = report["groups"][0]["shown"][0]
    text = report["documents"][place["document"]]["parts"][0][1]
    assert rows(page).first.locator(".text").text_content() == text
    assert rows(page).first.locator("mark").count() == len(place["edits"]) // 4
    link = rows(page).first.locator("dd a")
    assert link.get_attribute("href") == "file:///tmp/page-0"
    assert link.get_attribute("rel") == "noopener noreferrer"
    page.keyboard.press("n")
    page.keyboard.press("n")
    page.keyboard.press("b")
    expect(rows(page).nth(1)).to_contain_text("Boilerplate")
    expect(page.locator("h4:focus")).to_contain_text("page:01")
    page.keyboard.press("Escape")
    expect(rows(page).first.locator("a")).to_be_focused()


def test_timelines_choose_their_unit(opener, path):
    script = assembled.script().replace("\nstart();\n", "\n")
    page = opener.open(path)
    day = 86_400
    times = [
        [0, day * 10],
        [-day * 400, day * 40],
        [0, day * 365 * 20],
        [-62135596800, 1767225600],
        [0, 0],
        [],
        [1e300, 5],
    ]
    counted = page.evaluate(f"(times) => {{{script}\nreturn times.map(countTimes) }}", times)
    units = [(timeline["unit"], len(timeline["bars"])) for timeline in counted]
    assert units[:3] == [("day", 11), ("month", 16), ("year", 20)]
    assert units[3][0].endswith("years") and 60 <= units[3][1] <= 151
    assert units[4:] == [("day", 1), ("day", 0), ("day", 1)]
    assert counted[1]["bars"][0]["label"] == "1968-11"
    for timeline, given in zip(counted, times):
        assert sum(bar["count"] for bar in timeline["bars"]) == len([time for time in given if time < 1e12])


# Verdicts


def test_verdicts_are_saved_and_loaded(opener, path, report, tmp_path):
    page = opener.open(path, f"#view=match&match={8:032x}")
    page.keyboard.press("q")
    expect(page.get_by_role("button", name="Quotation")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".passage .badge")).to_have_text("Quotation")
    page.get_by_label("Note").fill("Ünïcode \"note\"\\ <b>")
    page.keyboard.press("Enter")
    page.get_by_label("Note").press("Escape")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("f")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("s")
    page.keyboard.press("x")
    expect(page.locator(".passage .badge")).to_be_hidden()
    page.locator("nav a", has_text="Verdicts").click()
    expect(page.locator("#app .count")).to_have_text("2 verdicts, kept in this browser")
    with page.expect_download() as started:
        page.get_by_role("button", name="Save as NDJSON").click()
    saved = tmp_path / "saved.ndjson"
    started.value.save_as(saved)
    assert started.value.suggested_filename == f"verdicts-{report['result']}.ndjson"
    lines = [json.loads(line) for line in saved.read_text(encoding="utf-8").splitlines()]
    assert [list(line) for line in lines] == [["result", "key", "verdict", "note", "method", "similarity", "at"]] * 2
    assert lines[0]["key"] == f"{8:032x}" and lines[0]["note"] == "Ünïcode \"note\"\\ <b>"
    assert lines[0]["similarity"] == 0.8 and lines[0]["method"] == "passages" and lines[0]["result"] == report["result"]
    assert [line["verdict"] for line in lines] == ["quotation", "false"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", lines[0]["at"])
    page.reload()
    expect(page.locator("#app .count")).to_have_text("2 verdicts, kept in this browser")

    # Another reader starts without them, and has a later verdict on one.
    other = opener.open(path, f"#view=match&match={9:032x}")
    other.keyboard.press("u")
    other.locator("nav a", has_text="Verdicts").click()
    expect(other.locator("#app .count")).to_have_text("1 verdict, kept in this browser")
    lines[1]["at"] = "2001-01-01T00:00:00Z"
    more = [
        lines[0] | {"verdict": "same", "at": "2001-01-01T00:00:00Z"},
        *lines,
        lines[0] | {"result": "0" * 16},
        lines[0] | {"verdict": "maybe"},
        lines[0] | {"key": "not in it", "note": "x"},
    ]
    saved.write_text("\n".join([*map(json.dumps, more), "", "no json", "null", "[1]"]), encoding="utf-8")
    other.get_by_label("Load files of verdicts").set_input_files(saved)
    expect(other.locator("#app [role=status]")).to_have_text(
        "4 verdicts loaded; 1 line of another result left out; 4 lines without a verdict left out"
    )
    expect(rows(other)).to_have_count(3)
    badges = dict(
        rows(other).evaluate_all("rows => rows.map((row) => [row.firstChild.innerText, row.querySelector('.badge').innerText])")
    )
    assert badges == {
        "not in it (not in the report)": "Quotation",
        "hebrew:1 ↔ hebrew:2": "Quotation",
        "chinese:1 ↔ chinese:2": "Unsure",
    }
    other.get_by_role("link", name="hebrew:1").click()
    expect(other.get_by_label("Note")).to_have_value("Ünïcode \"note\"\\ <b>")


def test_verdicts_without_storage(opener, path):
    page = opener.open(path)
    page.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new Error('none'); } });")
    page.goto(path.as_uri() + f"#view=match&match={8:032x}")
    page.reload()
    page.keyboard.press("s")
    page.locator("nav a", has_text="Verdicts").click()
    expect(page.locator("#app .count")).to_contain_text("1 verdict. This browser does not keep them")


def test_verdicts_filter_the_list(opener, path):
    page = opener.open(path, f"#view=match&match={8:032x}")
    page.keyboard.press("s")
    page.keyboard.press("Escape")
    page.get_by_label("Verdict").select_option("same")
    expect(page.locator("#app .count")).to_contain_text("1 of 1 match shown")
    page.get_by_label("Verdict").select_option("none")
    expect(page.locator("#app .count")).to_contain_text("of 129 matches")


# Readers


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessible(opener, path, scheme):
    page = opener.open(path, color_scheme=scheme, reduced_motion="reduce")
    for view, fragment in VIEWS.items():
        page.evaluate("(fragment) => { location.hash = fragment || '#view=overview'; }", fragment)
        expect(page.locator("#overview" if view == "overview" else "#app .view")).to_be_visible()
        results = Axe().run(page)
        assert results.violations_count == 0, f"{view}: {results.generate_report()}"


@pytest.mark.parametrize("width", [320, 480, 1280])
def test_no_horizontal_scrolling(opener, path, width):
    page = opener.open(path, viewport={"width": width, "height": 700})
    for fragment in VIEWS.values():
        page.evaluate("(fragment) => { location.hash = fragment || '#view=overview'; }", fragment)
        page.wait_for_function("document.querySelector('#overview, #app').textContent !== ''")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, fragment


def test_columns_stack_on_narrow_screens(opener, path):
    page = opener.open(path, VIEWS["match"], viewport={"width": 400, "height": 700})
    first, second = (box.bounding_box() for box in page.locator(".passage[aria-current] .side").all())
    assert first["y"] + first["height"] <= second["y"]
    page.set_viewport_size({"width": 1200, "height": 700})
    first, second = (box.bounding_box() for box in page.locator(".passage[aria-current] .side").all())
    assert first["y"] == second["y"] and first["x"] + first["width"] < second["x"]


def test_print(opener, path):
    page = opener.open(path, VIEWS["match"], color_scheme="dark")
    page.emulate_media(media="print")
    expect(page.locator("nav")).to_be_hidden()
    expect(page.locator(".verdict")).to_be_hidden()
    expect(page.locator(".passage").first).to_be_visible()
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.documentElement).color") == "rgb(32, 36, 42)"


def test_without_scripts(opener, path):
    page = opener.open(path, "#view=matches", java_script_enabled=False)
    expect(page.locator("#overview")).to_be_visible()
    expect(page.locator("#plain")).to_be_visible()
    expect(page.locator("#app")).to_be_hidden()
    expect(page.locator("nav")).to_be_hidden()
    expect(page.locator("#plain")).to_contain_text("בראשית")


def test_views_without_data(opener):
    build = Builder(columns=(), time=None)
    page = opener.open(build.report)
    assert page.locator("nav a").all_inner_texts() == ["Overview", "Verdicts"]
    for view in ["matches", "groups", "plot", "verdicts"]:
        page.evaluate("(view) => { location.hash = `#view=${view}`; }", view)
        expect(page.locator("#app h2")).to_be_visible()
        assert Axe().run(page).violations_count == 0


# Safety


def hostile():
    """Returns a report with payloads wherever text can be."""
    quarters = ["\n".join(PAYLOADS[at::8]) for at in range(8)]
    build = Builder(columns=[*quarters, "time"], time=8)
    build.report["title"] = "".join(PAYLOADS[::7])
    for at, payload in enumerate(PAYLOADS):
        values = [PAYLOADS[at - number] for number in range(8)] + ["2001-01-01"]
        build.document(payload, f"{payload}{payload}", values, 978307200 + at * 1e6, payload)
    for at, payload in enumerate(PAYLOADS):
        other = (at + 1) % len(PAYLOADS)
        lengths = [units(payload), units(PAYLOADS[other])]
        match = build.match(at, other, [0, lengths[0], lengths[1], 2 * lengths[1]], [0, *lengths, at % 4], [0, 1, 0, 1])
        match |= {"kind": payload, "fields": {payload: PAYLOADS[at - 1], "__proto__": payload}, "key": f"{at} {payload}"}
    for start in range(0, len(PAYLOADS), 60):
        shown = [
            {
                "key": f"place {at} {payload}", "document": at, "at": [0, units(payload)], "representative": at == start + 1,
                "similarity": None, "edits": [0, 1, 1, 3],
            }
            for at, payload in enumerate(PAYLOADS[start : start + 60], start)
        ]  # fmt: skip
        group = {"key": PAYLOADS[start], "name": PAYLOADS[start + 1], "ignored": False, "documents": 60, "places": 60}
        build.report["groups"].append(group | {"shown": shown})
    build.report["totals"] = {"matches": len(PAYLOADS), "groups": 6}
    return build.report


def test_payloads_are_text(opener):
    report = hostile()
    page = opener.open(report)
    assert page.evaluate(CHECK) == []
    page.locator("nav a", has_text="Matches").click()
    expect(rows(page)).to_have_count(50)
    while page.locator("#app .more button:visible").count() > 0:
        page.locator("#app .more button").click()
    expect(rows(page)).to_have_count(len(PAYLOADS))
    shown = rows(page).evaluate_all("rows => rows.map((row) => row.querySelector('bdi').textContent)")
    assert shown == [pictures(payload if units(payload) <= 300 else f"{section(payload, 0, 300)}…") for payload in PAYLOADS]
    assert page.evaluate(CHECK) == []
    for column in range(8):
        page.locator("select").nth(1).select_option(index=column)
        page.locator("select").nth(2).select_option(index=1)
    page.get_by_role("button", name="Clear filters").click()
    assert page.evaluate(CHECK) == []
    # All matches, each with its verdict and note.
    page.evaluate("(key) => { location.hash = `#view=match&match=${encodeURIComponent(key)}`; }", f"0 {PAYLOADS[0]}")
    passage = page.locator(".passage[aria-current]")
    expect(passage).to_have_attribute("data-key", f"0 {PAYLOADS[0]}")
    problems = page.evaluate(
        """(payloads) => {
            const check = %s;
            return payloads.flatMap((payload, at) => {
                const problems = at %% 3 === 0 ? check() : [];
                const passage = document.querySelector(".passage[aria-current]");
                if (passage.dataset.key !== `${at} ${payload}`) {
                    problems.push(`another match than ${at}`);
                }
                const note = document.querySelector(".note input");
                note.value = payload;
                note.dispatchEvent(new Event("change"));
                window.texts ??= [];
                window.texts.push([...passage.querySelectorAll(".text")].map((text) => text.textContent));
                document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
                return problems;
            });
        }"""
        % CHECK,
        PAYLOADS,
    )
    assert problems == []
    for at, texts in enumerate(page.evaluate("window.texts")):
        assert texts == [pictures(PAYLOADS[at]), pictures(PAYLOADS[(at + 1) % len(PAYLOADS)])]
    for view in ["verdicts", "plot", "groups"]:
        page.evaluate("(view) => { location.hash = `#view=${view}`; }", view)
        expect(page.locator("#app h2")).to_be_visible()
        while page.locator("#app .more button:visible").count() > 0:
            page.locator("#app .more button").click()
        assert page.evaluate(CHECK) == [], view
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280, view
    for start in range(0, len(PAYLOADS), 60):
        page.evaluate("(key) => { location.hash = `#view=group&group=${encodeURIComponent(key)}`; }", PAYLOADS[start])
        expect(page.locator("#app h2")).to_contain_text("Family")
        assert page.evaluate(CHECK) == [], start
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280, start


def test_payloads_in_fragments_and_files(opener, path, report, tmp_path):
    page = opener.open(path)
    for start in range(0, len(PAYLOADS), 20):
        for payload in PAYLOADS[start : start + 20]:
            page.evaluate(
                "(payload) => { const text = encodeURIComponent(payload.toWellFormed()); location.hash ="
                " `#view=matches&find=${text}&column=${text}&value=${text}&kind=${text}&from=${text}&sort=${text}`; }",
                payload,
            )
        assert page.evaluate(CHECK) == []
    line = {"result": report["result"], "verdict": "same", "method": "passages", "similarity": 1, "at": "x"}
    lines = [json.dumps(line | {"key": payload, "note": payload, "at": payload}) for payload in PAYLOADS]
    file = tmp_path / "verdicts.ndjson"
    file.write_text("\n".join([*lines, *PAYLOADS]), encoding="utf-8", errors="surrogatepass")
    page.evaluate("() => { location.hash = '#view=verdicts'; }")
    page.get_by_label("Load files of verdicts").set_input_files(file)
    expect(page.locator("#app [role=status]")).to_contain_text(f"{len(PAYLOADS)} verdicts loaded")
    assert page.evaluate(CHECK) == []
