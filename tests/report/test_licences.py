"""Reports of passages that licences share, as the program writes them, in a browser."""

import json
import math
import re

import pytest
from playwright.sync_api import expect

from checks import assert_slices, by_places, pictures, rows, show, sums
from page import units
from program import LICENCES, Made, query, report_of, run, texts_of, write_lines


@pytest.fixture(scope="session")
def licences(tmp_path_factory):
    folder = tmp_path_factory.mktemp("licences")
    corpus = folder / "corpus"
    run("ingest", LICENCES, "-o", corpus)
    found = run("passages", corpus, "-o", f"{folder}/reuse/")
    made = Made(folder, folder / "reuse", corpus)
    made.found = found
    made.texts = texts_of(corpus)
    return made


@pytest.fixture(scope="session")
def some(licences, tmp_path_factory):
    """Returns a folder with a part of the licences as lines, as a corpus, and what was found in it."""
    folder = tmp_path_factory.mktemp("some")
    write_lines(folder / "texts.jsonl", [{"id": name, "text": text} for name, text in list(licences.texts.items())[:200]])
    run("ingest", folder / "texts.jsonl", "-o", folder / "corpus")
    run("passages", folder / "corpus", "-o", f"{folder}/reuse/")
    return folder


def test_counts_are_those_of_the_tables(opener, licences):
    page = opener.open(licences.page)
    [passages] = licences.rows("passages", "count(*) AS n, count(DISTINCT concat(doc_a, chr(31), doc_b)) AS pairs")
    [families] = licences.rows("families", "count(*) AS places, count(DISTINCT family_id) AS n, count(DISTINCT doc_id) AS documents")
    [coverage] = licences.rows(
        "coverage", "count(*) AS n, sum(characters) AS c, sum(in_passages) AS p, sum(in_families) AS f, sum(reused) AS r"
    )
    shown = sums(page)
    expected = {
        "documents": coverage["n"],
        "document pairs": re.search("document pairs ([0-9,]+)", licences.found)[1].replace(",", ""),
        "families": families["n"],
        "documents in families": families["documents"],
        "characters in families": coverage["f"],
        "matches": passages["n"],
        "pairs of documents with matches": passages["pairs"],
        "places in families": families["places"],
        "characters": coverage["c"],
        "of these in passages": coverage["p"],
        "in families": coverage["f"],
        "in either": f"{coverage['r']} ({100 * coverage['r'] / coverage['c']:.1f} %)",
    }  # fmt: skip
    assert {name: shown[name] for name in expected} == {name: str(value) for name, value in expected.items()}
    assert coverage["n"] == len(licences.texts) and coverage["c"] == sum(map(len, licences.texts.values()))
    links = page.locator("nav[aria-label=Views] a")
    assert links.nth(1).text_content() == f"Matches {passages['n']:,}"
    assert links.nth(2).text_content() == f"Families {families['n']:,}"
    show(page, "#view=matches")
    expect(page.locator("#app .count")).to_have_text(f"50 of {passages['n']:,} matches shown")
    show(page, "#view=groups")
    expect(page.locator("#app .count")).to_have_text(f"50 of {families['n']} families shown")
    # The bars of a histogram are all matches.
    for caption in ["Matches by similarity", "Matches by length in characters"]:
        counts = page.locator("#overview figure", has_text=caption).locator("td").all_text_contents()
        assert sum(int(count.replace(",", "")) for count in counts) == passages["n"]
    sides = " UNION ALL ".join(
        f"SELECT doc_{a} AS id, doc_{b} AS other, greatest(char_a_end - char_a_start, char_b_end - char_b_start) AS characters "
        f"FROM '{licences.result}/passages.parquet'"
        for a, b in ("ab", "ba")
    )
    [most] = query(
        f"WITH sides AS ({sides}) SELECT id, count(DISTINCT other) AS others, count(*) AS matches, sum(characters) AS characters "
        "FROM sides GROUP BY id ORDER BY characters DESC, id LIMIT 1"
    )
    first = page.locator("#overview .scroll", has_text="Documents that share most").locator("tbody tr").first
    assert first.locator("th, td").all_text_contents() == [most["id"], *(f"{most[name]:,}" for name in ("others", "matches", "characters"))]


def test_matches_show_the_characters_of_the_table(opener, licences):
    passages = licences.rows("passages")
    matches = by_places(licences.report, passages, licences.texts)
    assert len(matches) == len(passages) == licences.report["totals"]["matches"]
    page = opener.open(licences.page)
    assert_slices(page, licences.report, licences.texts, matches[:: len(matches) // 29])
    for match, row in matches:
        assert match["sentences"] == [row[name] for name in ("sent_a_start", "sent_a_end", "sent_b_start", "sent_b_end")]
        assert abs(match["similarity"] - row["similarity"]) < 1e-6
        assert match["fields"] == {"gaps": str(row["gaps"])}
    # Text that is not marked is equal on both sides, but for white space.
    equal = page.locator(".passage .pair").evaluate_all(
        """pairs => pairs.map((pair) => [...pair.querySelectorAll(".text")].map((text) => [...text.childNodes]
            .filter((node) => node.nodeName === "#text").map((node) => node.data).join("").replace(/\\s+/g, "")))"""
    )
    assert equal and all(a == b for a, b in equal)


def test_matches_are_the_best_first(licences):
    values = [
        max(match["at"][1] - match["at"][0], match["at"][3] - match["at"][2]) * match["similarity"]
        for match in licences.report["matches"]
    ]
    assert all(a >= b - 1 for a, b in zip(values, values[1:]))


def test_families_show_their_places(opener, licences):
    page = opener.open(licences.page, "#view=groups")
    families = {}
    for row in licences.rows("families", "*", "ORDER BY family_id, doc_id, char_start"):
        families.setdefault(row["family_id"], []).append(row)
    groups = licences.report["groups"]
    assert [group["name"] for group in groups] == sorted(
        families, key=lambda name: (-families[name][0]["documents"], -len(families[name]), name)
    )
    for group in groups:
        places = families[group["name"]]
        assert group["documents"] == places[0]["documents"] == len({place["doc_id"] for place in places})
        assert group["places"] == len(places)
        assert 0 < len(group["shown"]) <= min(len(places), 201)
    for group in groups[::12]:
        show(page, f"#view=group&group={group['key']}")
        expect(page.locator("#app h2")).to_have_text(f"Family {group['name']}")
        places = families[group["name"]]
        expect(page.locator("#app .meta").first).to_have_text(f"{group['documents']} documents{len(places)} places")
        [first] = [place for place in places if place["representative"]]
        text = pictures(licences.texts[first["doc_id"]][first["char_start"] : first["char_end"]])
        assert page.locator(".representative .text").text_content() == text[:20_000]
        listed = rows(page).evaluate_all(
            """rows => rows.map((row) => [row.querySelector("h4 bdi").textContent, row.querySelector(".text")?.textContent ?? null])"""
        )
        expected = [
            (place["doc_id"], None if place is first else pictures(licences.texts[place["doc_id"]][place["char_start"] : place["char_end"]])[:20_000])
            for place in places
        ]  # fmt: skip
        kept = [place for place in expected if list(place) in listed]
        assert listed == [list(place) for place in kept[: len(listed)]] and len(listed) >= min(len(places), 50) - 1


def test_dot_plot_opens_a_match(opener, licences):
    page = opener.open(licences.page, "#view=plot&a=license:apsl-1.2&b=license:sybase")
    passages = sorted(
        licences.rows("passages", "*", "WHERE doc_a = 'license:apsl-1.2' AND doc_b = 'license:sybase'"),
        key=lambda row: row["char_a_start"],
    )
    expect(page.locator("#app section h3")).to_have_text(f"{len(passages)} passages")
    matches = by_places(licences.report, passages, licences.texts)
    for at, (match, row) in enumerate(matches):
        canvas = page.locator("canvas")
        canvas.focus()
        page.keyboard.press("Home")
        for _ in range(at):
            page.keyboard.press("ArrowRight")
        said = page.locator("#app [role=status]").text_content()
        assert said.startswith(f"Passage {at + 1} of {len(passages)}: sentences {row['sent_a_start'] + 1}")
        # The figure says of how many sentences the plot is.
        extent = [int(number.replace(",", "")) for number in re.findall(r"([\d,]+) sentence", page.locator("#app figcaption").text_content())]
        box = canvas.bounding_box()
        middle = [(row["sent_a_start"] + row["sent_a_end"]) / 2 / extent[0], (row["sent_b_start"] + row["sent_b_end"]) / 2 / extent[1]]
        canvas.click(position={"x": middle[0] * box["width"], "y": middle[1] * box["height"]})
        expect(page.locator(".passage[aria-current]")).to_have_attribute("data-key", match["key"])
        page.go_back()
        expect(page.locator("#app h2")).to_have_text("Dot plot")


def test_fragments_keep_views_of_results(opener, licences):
    page = opener.open(licences.page)
    page.locator("nav a", has_text="Matches").click()
    page.get_by_label("Find in texts and ids").fill("sybase")
    page.get_by_label("Least characters").fill("5000")
    page.get_by_label("Sort").select_option("ids")
    expect(page).to_have_url(re.compile("length=5000.*sort=ids"))
    listed = rows(page).evaluate_all("rows => rows.map((row) => row.dataset.key)")
    assert listed
    again = opener.open(licences.page, page.url[page.url.index("#") :])
    assert rows(again).evaluate_all("rows => rows.map((row) => row.dataset.key)") == listed
    rows(again).nth(1).locator("a").click()
    third = opener.open(licences.page, again.url[again.url.index("#") :])
    expect(third.locator(".passage[aria-current]")).to_have_attribute("data-key", listed[1])
    third.keyboard.press("Escape")
    assert rows(third).evaluate_all("rows => rows.map((row) => row.dataset.key)") == listed


def test_first_matches_without_scripts(opener, licences):
    page = opener.open(licences.page, java_script_enabled=False)
    expect(page.locator("#app")).to_be_hidden()
    expect(page.locator("#overview")).to_be_visible()
    shown = page.locator("#plain > .rows").first.locator("> .row")
    expect(shown).to_have_count(40)
    marks = 0
    for at, match in enumerate(licences.report["matches"][:40]):
        row = shown.nth(at)
        ids = [licences.report["documents"][match[side]]["id"] for side in "ab"]
        assert row.locator(".ids bdi").all_text_contents() == ids
        marks += row.locator("mark").count()
        for side, text in enumerate(row.locator(".text").all_text_contents()):
            document = licences.report["documents"][match["ab"[side]]]
            start, end = match["at"][2 * side : 2 * side + 2]
            [(offset, part)] = [part for part in document["parts"] if part[0] <= start and end <= part[0] + units(part[1])]
            whole = part.encode("utf-16-le")[2 * (start - offset) : 2 * (end - offset)].decode("utf-16-le")
            assert text.endswith("…") or text == whole
            assert whole.startswith(text.removesuffix("…"))
    assert marks > 40
    assert page.locator("#plain mark.number").count() > 0
    expect(page.locator("#plain h3").first).to_have_text(f"Family {licences.report['groups'][0]['name']}")


# Files


def test_the_same_input_gives_the_same_bytes(licences):
    written = licences.page.read_bytes()
    assert len(written) <= 10 << 20
    for threads in [1, 4]:
        page = licences.folder / f"same-{threads}.html"
        run("report", licences.result, "--corpus", licences.corpus, "-o", page, "--threads", threads)
        assert page.read_bytes() == written


def test_a_wrong_collection_is_refused(licences, tmp_path):
    page, texts = tmp_path / "report.html", tmp_path / "other.jsonl"
    write_lines(texts, [{"id": "a", "text": "Another text."}])
    page.write_text("an earlier report")
    run("passages", texts, "-o", tmp_path / "reuse.csv")
    said = run("report", licences.result, "--corpus", texts, "-o", page, code=1)
    assert "is not the one of which" in said and "seal" in said
    assert page.read_text() == "an earlier report"
    # One character is enough.
    records = [{"id": name, "text": text} for name, text in licences.texts.items()]
    records[-1]["text"] += "."
    said = run("report", licences.result, "--corpus", write_lines(texts, records), "-o", page, code=1)
    assert "is not the one of which" in said
    said = run("report", licences.result, "--corpus", licences.corpus, "--against", texts, "-o", page, code=1)
    assert "was made of one collection" in said
    said = run("report", licences.result, "--corpus", tmp_path / "nothing", "-o", page, code=1)
    assert "nothing" in said
    said = run("report", tmp_path / "reuse.csv", "--corpus", licences.corpus, "-o", page, code=1)
    assert "does not say what it was made of" in said
    said = run("report", licences.corpus, "--corpus", licences.corpus, "-o", page, code=1)
    assert "is no result of a method" in said
    said = run("report", licences.result, "--corpus", licences.corpus, "-o", page, "--max-size", "100KiB", code=1)
    assert "--max-size" in said
    assert page.read_text() == "an earlier report"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.jsonl", "report.html", "reuse.csv"]


def test_raw_files_are_as_good_as_a_corpus(some):
    run("passages", "texts.jsonl", "-o", "raw/", cwd=some)
    for number, (result, corpus) in enumerate([("reuse/", "texts.jsonl"), ("raw/", "corpus")]):
        run("report", result, "--corpus", corpus, "-o", f"{number}.html", cwd=some)
    reports = [report_of(some / f"{number}.html") for number in range(2)]
    assert reports[0]["matches"] and reports[0] == reports[1]


def test_a_folder_of_pages(opener, some):
    run("report", some / "reuse", "--corpus", some / "corpus", "-o", some / "whole.html")
    whole = report_of(some / "whole.html")
    said = run("report", some / "reuse", "--corpus", some / "corpus", "-o", f"{some}/book/", "--max-size", "1MiB")
    book = some / "book"
    pages = [book / "index.html", *sorted((book / "pages").iterdir())]
    assert f"pages {len(pages)}" in said and len(pages) > 2
    assert [page.name for page in pages[1:]] == [f"{number:04}.html" for number in range(2, len(pages) + 1)]
    assert max(page.stat().st_size for page in pages) <= 1 << 20
    run("verify", f"{book}/")
    reports = [report_of(page) for page in pages]
    assert {report["result"] for report in reports} == {whole["result"]}
    assert sorted(match["key"] for report in reports for match in report["matches"]) == sorted(match["key"] for match in whole["matches"])
    assert {group["key"] for report in reports for group in report["groups"]} == {group["key"] for group in whole["groups"]}
    matches = {match["key"]: match for match in whole["matches"]}
    for report in reports:
        for match in report["matches"]:
            own = [report["documents"][match[side]]["id"] for side in "ab"]
            known = matches[match["key"]]
            assert own == [whole["documents"][known[side]]["id"] for side in "ab"]
            assert [match[name] for name in ("at", "edits", "similarity")] == [known[name] for name in ("at", "edits", "similarity")]

    # Links lead from page to page.
    browser = opener.open(pages[0])
    for number, page in enumerate(pages, 1):
        assert browser.url == page.as_uri()
        expect(browser.locator("nav.pages [aria-current]")).to_have_text(f"page {number}")
        shown = len(reports[number - 1]["matches"])
        if number <= 2 and shown > 0:
            browser.locator("nav[aria-label=Views] a", has_text="Matches").click()
            expect(browser.locator("#app .count")).to_contain_text(f"{len(matches) - shown:,} further matches")
        if number < len(pages):
            browser.locator("nav.pages a", has_text="next page").click()
            browser.wait_for_url(pages[number].as_uri())
    browser.locator("nav.pages a", has_text="previous page").click()
    browser.wait_for_url(pages[-2].as_uri())
    browser.locator("nav.pages a", has_text="first page").click()
    browser.wait_for_url(pages[0].as_uri())
    asked = {f"requests {page.as_uri()}" for page in pages}
    assert set(opener.complaints) <= asked
    opener.complaints.clear()


def test_a_folder_of_pages_has_all_places_of_families(some):
    run("report", some / "reuse", "--corpus", some / "corpus", "-o", some / "places.html")
    run("report", some / "reuse", "--corpus", some / "corpus", "-o", f"{some}/places/", "--max-size", "512KiB")
    pages = [some / "places/index.html", *sorted((some / "places/pages").iterdir())]
    whole, *reports = [
        {(group["key"], place["key"]) for group in report_of(page)["groups"] for place in group["shown"]}
        for page in [some / "places.html", *pages]
    ]
    assert set().union(*reports) == whole


# Verdicts


def score(verdicts, right=("same", "quotation")):
    """Returns the rows of `ibid review score`, computed on its own."""
    judged = [verdict for verdict in verdicts if verdict["verdict"] != "unsure" and verdict["similarity"] is not None]
    lines = []
    for threshold in sorted({verdict["similarity"] for verdict in judged}, reverse=True):
        above = [verdict["verdict"] in right for verdict in judged if verdict["similarity"] >= threshold]
        n, share, z = len(above), sum(above) / len(above), 1.959963984540054
        middle = (share + z * z / (2 * n)) / (1 + z * z / n)
        reach = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        lines.append((threshold, n, sum(above), share, max(middle - reach, 0), min(middle + reach, 1)))
    return lines


def test_verdicts_become_a_table_and_scores(opener, licences, tmp_path):
    matches = licences.report["matches"]
    page = opener.open(licences.page, f"#view=match&match={matches[0]['key']}")
    given = {}
    keys = {"s": "same", "q": "quotation", "b": "boilerplate", "f": "false", "u": "unsure"}
    for at, key in enumerate("ssqsbsfsufsq"):
        expect(page.locator(".passage[aria-current]")).to_have_attribute("data-key", matches[at]["key"])
        page.keyboard.press(key)
        given[matches[at]["key"]] = keys[key]
        page.keyboard.press("ArrowRight")
    # A verdict on a place of a family, with a note; and one that is taken back.
    page.keyboard.press("f")
    page.keyboard.press("x")
    group = licences.report["groups"][0]
    place = next(place for place in group["shown"] if not place["representative"])
    show(page, f"#view=group&group={group['key']}&place={place['key']}")
    page.get_by_label("Note").fill('A "note", with ünïcode, \t and <b>')
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Boilerplate").click()
    given[place["key"]] = "boilerplate"
    page.locator("nav a", has_text="Verdicts").click()
    with page.expect_download() as started:
        page.get_by_role("button", name="Save as NDJSON").click()
    saved = tmp_path / started.value.suggested_filename
    started.value.save_as(saved)
    lines = [json.loads(line) for line in saved.read_text(encoding="utf-8").splitlines()]
    assert {line["key"]: line["verdict"] for line in lines} == given

    table = tmp_path / "verdicts.parquet"
    run("review", "import", saved, "-o", table)
    stored = query(f"SELECT * FROM '{table}'")
    assert [{name: row[name] for name in lines[0]} for row in stored] == sorted(lines, key=lambda line: line["key"])
    assert all(row["verdicts"] == 1 for row in stored)

    for source in (saved, table):
        said = run("review", "score", source, "--precision", "0.5", "-o", tmp_path / "scores.parquet")
        scores = query(f"SELECT * FROM '{tmp_path}/scores.parquet' ORDER BY threshold DESC")
        expected = score(lines)
        assert len(scores) == len(expected) > 5
        for row, wanted in zip(scores, expected):
            found = [row[name] for name in ("threshold", "judged", "right", "precision", "low", "high")]
            assert found == pytest.approx(list(wanted), abs=1e-9)
        reached = min(threshold for threshold, _, _, share, _, _ in expected if share >= 0.5)
        assert f"precision 0.5 from threshold {reached} on" in said
        certain = [threshold for threshold, _, _, _, low, _ in expected if low >= 0.5]
        assert f"certain from {min(certain)} on" in said if certain else "is not certain" in said
    run("review", "score", saved, "--right", "same,quotation,boilerplate", "-o", tmp_path / "scores.parquet")
    scores = query(f"SELECT * FROM '{tmp_path}/scores.parquet' ORDER BY threshold DESC")
    expected = score(lines, ("same", "quotation", "boilerplate"))
    assert [row["right"] for row in scores] == [right for _, _, right, *_ in expected]

    # In another browser, the file brings the verdicts back.
    other = opener.open(licences.page, "#view=verdicts")
    expect(other.locator("#app .count")).to_contain_text("0 verdicts")
    other.get_by_label("Load files of verdicts").set_input_files(saved)
    expect(other.locator("#app [role=status]")).to_have_text(f"{len(given)} verdicts loaded")
    expect(rows(other)).to_have_count(len(given))
    show(other, f"#view=match&match={matches[2]['key']}")
    expect(other.get_by_role("button", name="Quotation")).to_have_attribute("aria-pressed", "true")
    show(other, f"#view=group&group={group['key']}&place={place['key']}")
    expect(other.get_by_label("Note")).to_have_value('A "note", with ünïcode, \t and <b>')


# Size


def test_a_page_too_small_for_all_has_the_best(opener, licences, tmp_path):
    small = tmp_path / "small.html"
    run("report", licences.result, "--corpus", licences.corpus, "-o", small, "--max-size", "300KiB")
    assert small.stat().st_size <= 300 << 10
    report, totals = report_of(small), licences.report["totals"]
    assert report["totals"] == totals and 0 < len(report["matches"]) < totals["matches"]
    page = opener.open(small)
    expect(page.locator("#overview li").first).to_contain_text(f"of {totals['matches']:,} matches")
    assert sums(page)["matches"] == str(totals["matches"])
    show(page, "#view=matches")
    left = totals["matches"] - len(report["matches"])
    expect(page.locator("#app .count")).to_contain_text(f"{left:,} further matches of the result not in the report")
    assert_slices(page, report, licences.texts, by_places_of(report, licences)[:5])


def by_places_of(report, licences):
    """Returns the rows of the table that a report has."""
    keys = {match["key"] for match in report["matches"]}
    return [(match, row) for match, row in by_places(licences.report, licences.rows("passages"), licences.texts) if match["key"] in keys]
