"""Reports of results of all methods, and of hostile texts, as the program writes them, in a browser."""

import re

import pytest
from playwright.sync_api import expect

from checks import CHECK, assert_slices, assert_views, by_places, pictures, rows, show, show_match, shown_texts, sums
from payloads import LINKS, PAYLOADS
from program import Made, Prose, query, run, texts_of, with_word, write_lines


# Other methods


@pytest.fixture(scope="session")
def notes(tmp_path_factory):
    """Returns a folder with a collection that has copies, parts, common text, and days."""
    folder = tmp_path_factory.mktemp("notes")
    prose = Prose(1)
    shared, common = [prose.sentences(6) for _ in range(10)], prose.sentences(5)
    documents = []
    for at in range(50):
        parts = [prose.sentences(4), f"{shared[at % 10]} {prose.sentences(3)}", common if at % 2 else "", prose.sentences(2)]
        day = None if at % 7 == 0 else f"20{at % 20 + 5:02}-0{at % 9 + 1}-11"
        documents.append({"id": f"note{at:02}", "text": " ".join(parts), "source": f"source {at % 3}", "day": day})
    for at in range(15):
        text = with_word(documents[at]["text"], 5, "CHANGED")
        documents.append({"id": f"near{at:02}", "text": text, "source": "near", "day": f"2030-01-{at + 1:02}"})
    for at in range(5):
        text = documents[at]["text"]
        text = text[text.index(". ", len(text) // 2) + 2 :]
        documents.append({"id": f"part{at:02}", "text": text, "source": "part", "day": "2031"})
    write_lines(folder / "notes.jsonl", documents)
    run("ingest", folder / "notes.jsonl", "-o", folder / "corpus")
    return folder


def documents_at(notes):
    """Returns whole documents as places."""
    return {name: (0, len(text)) for name, text in texts_of(notes / "corpus").items()}


def test_pairs_of_documents(opener, notes):
    run("pairs", notes / "corpus", "-o", notes / "pairs.parquet")
    made = Made(notes, notes / "pairs.parquet", notes / "corpus", "--time-column", "day", "--link-template", "https://example.org/{id}?{source}")
    found = query(f"SELECT * FROM '{made.result}'")
    assert len(made.report["matches"]) == len(found) == 15
    page = opener.open(made.page)
    assert assert_views(page) == ["Overview", "Matches", "Verdicts"]
    assert sums(page)["matches"] == "15"
    texts = texts_of(notes / "corpus")
    whole = [
        {"doc_a": row["id_a"], "doc_b": row["id_b"], "char_a_start": 0, "char_a_end": len(texts[row["id_a"]]), "char_b_start": 0, "char_b_end": len(texts[row["id_b"]])}
        for row in found
    ]  # fmt: skip
    matches = by_places(made.report, whole, texts)
    assert_slices(page, made.report, texts, matches[:3])
    expect(page.locator(".heads")).to_contain_text("sourcenear")
    link = page.locator(".heads a").first
    expect(link).to_have_attribute("href", re.compile(r"https://example\.org/near\d\d\?near"))
    expect(page.locator(".passage mark").first).to_contain_text("CHANGED")
    show(page, "#view=matches")
    page.get_by_label("Value in either document").select_option("source 1")
    expect(page.locator("#app .count")).to_contain_text("5 of 5 matches shown")
    page.get_by_label("From day").fill("2030-01-10")
    expect(page.locator("#app .count")).to_contain_text("2 of 2 matches shown")


def test_pairs_of_sentences(opener, notes):
    run("pairs", notes / "corpus", "--unit", "sentence", "-o", notes / "sentences.parquet")
    made = Made(notes, notes / "sentences.parquet", notes / "corpus")
    found = query(f"SELECT * FROM '{made.result}'")
    assert len(made.report["matches"]) == made.report["totals"]["matches"] == len(found)
    page = opener.open(made.page)
    assert assert_views(page) == ["Overview", "Matches", "Dot plot", "Verdicts"]
    sentences = {
        (row["doc_id"], row["sent"]): row for row in query(f"SELECT doc_id, sent, char_start, char_end FROM '{notes}/corpus/sentences.parquet'")
    }  # fmt: skip
    placed = []
    for row in found:
        a, b = sentences[row["id_a"], row["sent_a"]], sentences[row["id_b"], row["sent_b"]]
        placed.append(
            {"doc_a": row["id_a"], "doc_b": row["id_b"], "char_a_start": a["char_start"], "char_a_end": a["char_end"], "char_b_start": b["char_start"], "char_b_end": b["char_end"]}
        )  # fmt: skip
    texts = texts_of(notes / "corpus")
    matches = by_places(made.report, placed, texts)
    assert len({match["key"] for match, _ in matches}) == len(found)
    assert_slices(page, made.report, texts, matches[:: len(matches) // 6])


def test_threads(opener, notes):
    prose = Prose(2)
    records = []
    for at in range(12):
        title, body = prose.words(7), prose.sentences(6)
        records.append({"id": f"{at}a", "title": title, "body": body})
        records.append({"id": f"{at}b", "title": title, "body": with_word(body, 4, "zzz")})
    threads = write_lines(notes / "threads.jsonl", records)
    run("ingest", threads, "--text-column", "title+body", "-o", notes / "threads")
    run("threads", notes / "threads", "--field", "title=1", "--field", "body=2", "-o", notes / "threads.parquet")
    made = Made(notes, notes / "threads.parquet", notes / "threads")
    found = query(f"SELECT * FROM '{made.result}'")
    assert len(made.report["matches"]) == len(found) == 12
    page = opener.open(made.page)
    assert_views(page)
    passage = show_match(page, made.report["matches"][0]["key"])
    expect(passage).to_contain_text("body")
    expect(passage.locator("mark")).to_have_text(["zzz" if made.report["documents"][made.report["matches"][0]["a"]]["id"].endswith("b") else re.compile("."), re.compile(".")])


def test_clusters(opener, notes):
    run("clusters", notes / "corpus", "--method", "exact", "-o", notes / "clusters")
    made = Made(notes, notes / "clusters", notes / "corpus", "--time-column", "day")
    clusters = made.rows("clusters")
    [pairs] = made.rows("pairs", "count(*) AS n, count(DISTINCT kind) AS kinds")
    names = {row["cluster_id"] for row in clusters}
    assert made.report["totals"] == {"matches": pairs["n"], "groups": len(names)}
    page = opener.open(made.page)
    assert assert_views(page) == ["Overview", "Matches", "Clusters", "Dot plot", "Verdicts"]
    assert (sums(page)["matches"], sums(page)["clusters"], sums(page)["places in clusters"]) == (str(pairs["n"]), str(len(names)), str(len(clusters)))
    group = made.report["groups"][0]
    assert group["places"] == sum(str(row["cluster_id"]) == group["name"] for row in clusters)
    show(page, f"#view=group&group={group['key']}")
    expect(page.locator(".timeline figcaption")).to_contain_text("places by year, 2006 to")
    days = [place and made.report["documents"][place["document"]]["seconds"] for place in group["shown"]]
    known = [day for day in days if day is not None]
    assert known == sorted(known) and days[len(known) :] == [None] * (len(days) - len(known))
    show(page, "#view=matches")
    kinds = page.get_by_label("Kind").locator("option").all_text_contents()
    assert len(kinds) == 1 + pairs["kinds"]
    passage = show_match(page, made.report["matches"][0]["key"])
    expect(passage.locator(".meta")).to_contain_text(made.report["matches"][0]["kind"])


def test_containment(opener, notes):
    run("containment", notes / "corpus", "--time-column", "day", "-o", notes / "contained.parquet")
    made = Made(notes, notes / "contained.parquet", notes / "corpus", "--time-column", "day")
    found = query(f"SELECT * FROM '{made.result}' ORDER BY contained, container")
    texts = texts_of(notes / "corpus")
    assert len(made.report["matches"]) == len(found) > 10
    page = opener.open(made.page)
    assert assert_views(page) == ["Overview", "Matches", "Verdicts"]
    whole = [
        {**row, "doc_a": row["contained"], "doc_b": row["container"], "char_a_start": 0, "char_a_end": len(texts[row["contained"]]), "char_b_start": 0, "char_b_end": len(texts[row["container"]])}
        for row in found
    ]  # fmt: skip
    matches = by_places(made.report, whole, texts)
    for match, row in matches:
        assert match["similarity"] == pytest.approx(row["score"], abs=1e-6)
        assert match["fields"].keys() >= {"score_back"}
    assert_slices(page, made.report, texts, matches[:2])
    expect(page.locator(".passage .facts")).to_contain_text("score_back")
    show(page, "#view=matches")
    page.get_by_label("Sort").select_option("newest")
    expect(rows(page).first).to_contain_text("2031-01-01")


def test_dedup(opener, notes):
    run("dedup", notes / "corpus", "--by-source", "source", "-o", notes / "clean")
    made = Made(notes, notes / "clean", notes / "corpus")
    removed, clusters = made.rows("removed"), made.rows("clusters")
    assert made.report["totals"] == {"matches": len(removed), "groups": len({row["kept_id"] for row in clusters})}
    page = opener.open(made.page)
    assert assert_views(page) == ["Overview", "Matches", "Clusters", "Verdicts"]
    table = page.locator("#overview .scroll", has_text="each source").locator("tbody tr")
    show(page, "")
    expected = [
        [row["source"], *(f"{row[name]:,}" for name in ("documents", "characters", "characters_removed"))]
        for row in sorted(made.rows("sources"), key=lambda row: (-row["characters_removed"], row["source"]))
    ]
    assert [row.locator("th, td").all_text_contents() for row in table.all()] == expected
    rules = {match["kind"] for match in made.report["matches"]}
    assert rules == {row["rule"] for row in removed}
    passage = show_match(page, made.report["matches"][0]["key"])
    expect(passage.locator(".meta")).to_contain_text(made.report["matches"][0]["kind"])
    group = made.report["groups"][0]
    show(page, f"#view=group&group={group['key']}")
    expect(page.locator("#app h2")).to_have_text(f"Cluster {group['name']}")
    expect(page.locator("#app .place")).to_have_count(len([row for row in clusters if str(row["kept_id"]) == group["name"]]))


def test_dedup_of_passages(opener, notes):
    run("dedup", notes / "corpus", "--unit", "passage", "-o", notes / "cut")
    made = Made(notes, notes / "cut", notes / "corpus")
    removed = made.rows("removed", "id AS doc_a, kept_id AS doc_b, char_start AS char_a_start, char_end AS char_a_end, kept_char_start AS char_b_start, kept_char_end AS char_b_end")
    assert len(made.report["matches"]) == len(removed) > 50
    texts = texts_of(notes / "corpus")
    page = opener.open(made.page)
    assert_views(page)
    matches = by_places(made.report, removed, texts)
    assert_slices(page, made.report, texts, matches[:: len(matches) // 6])


def test_decontaminate(opener, notes):
    texts = texts_of(notes / "corpus")
    items = [{"id": f"item{at}", "text": " ".join(texts[f"note{at:02}"].split(" ")[8:40])} for at in range(8)]
    write_lines(notes / "items.jsonl", items)
    run("decontaminate", notes / "corpus", "--against", notes / "items.jsonl", "-o", notes / "decontaminated")
    made = Made(notes, notes / "decontaminated", notes / "corpus", "--against", notes / "items.jsonl")
    hits = made.rows("hits", "id AS doc_a, item_id AS doc_b, char_start AS char_a_start, char_end AS char_a_end, item_char_start AS char_b_start, item_char_end AS char_b_end, rule")
    assert len(made.report["matches"]) == len(hits) >= 8
    page = opener.open(made.page)
    assert assert_views(page) == ["Overview", "Matches", "Verdicts"]
    others = {item["id"]: item["text"] for item in items}
    matches = by_places(made.report, hits, texts, others)
    assert {match["kind"] for match, _ in matches} == {row["rule"] for row in hits}
    assert_slices(page, made.report, texts, matches[:4], others)


def test_two_collections_with_the_same_ids(opener, tmp_path):
    prose = Prose(3)
    shared = [prose.sentences(6) for _ in range(6)]
    first = [{"id": str(at), "text": f"{prose.sentences(3)} {shared[at]} {prose.sentences(2)}"} for at in range(6)]
    second = [{"id": str(at), "text": f"{prose.sentences(1)} {shared[5 - at]} {prose.sentences(4)}"} for at in range(6)]
    a, b = write_lines(tmp_path / "a.jsonl", first), write_lines(tmp_path / "b.jsonl", second)
    run("passages", a, "--against", b, "-o", f"{tmp_path}/reuse/")
    made = Made(tmp_path, tmp_path / "reuse", a, "--against", b)
    texts, others = ({record["id"]: record["text"] for record in records} for records in (first, second))
    matches = by_places(made.report, made.rows("passages"), texts, others)
    assert len(matches) == 6
    page = opener.open(made.page)
    assert_slices(page, made.report, texts, matches, others)
    for match, row in matches:
        show(page, f"#view=match&match={match['key']}")
        expect(page.locator(".passage[aria-current]")).to_have_attribute("data-key", match["key"])
        page.get_by_role("link", name="Dot plot of these documents").click()
        page.locator("canvas").focus()
        page.keyboard.press("Home")
        page.keyboard.press("Enter")
        expect(page.locator(".passage[aria-current]")).to_have_attribute("data-key", match["key"])


# Texts


def test_scripts_controls_and_long_sentences(opener, tmp_path):
    hebrew = "בראשית ברא אלהים את השמים ואת הארץ והארץ היתה תהו ובהו וחשך על פני תהום ורוח אלהים מרחפת על פני המים ויאמר אלהים יהי אור ויהי אור בשנת {} וירא אלהים את האור כי טוב ויבדל אלהים בין האור ובין החשך."
    chinese = "学而时习之不亦说乎有朋自远方来不亦乐乎人不知而不愠不亦君子乎其为人也孝弟而好犯上者鲜矣不好犯上而好作乱者未之有也{}年。"
    control = "A\0sentence \x01with \x1b[31mcontrols\x1b[0m and\r\nends of lines \x7f \x85 that two documents have word for word {} indeed, with enough words to be one passage."
    emoji = "The 👩‍👩‍👧 family 𝔴𝔢𝔫𝔱 to the 🏖 beach on day {} with all of its friends and relatives, and came home late in the evening, tired."
    # One sentence of a megabyte.
    prose = Prose(4)
    words = prose.words(150_000)
    long = [words, words.replace(" ba", " BA", 1)]
    texts = {
        "hebrew": [hebrew.format(1990), hebrew.format(2001)],
        "chinese": [chinese.format("一九九〇"), chinese.format("二〇〇一")],
        "controls\x01": [control.format("so"), control.format("thus")],
        "emoji": [emoji.format(3), emoji.format(4)],
        "long": long,
    }
    assert len(long[0]) > 1_000_000
    records = [{"id": f"{name}:{at}", "text": text} for name, pair in texts.items() for at, text in enumerate(pair)]
    corpus = write_lines(tmp_path / "texts.jsonl", records)
    run("passages", corpus, "-o", f"{tmp_path}/reuse/")
    made = Made(tmp_path, tmp_path / "reuse", corpus)
    known = {record["id"]: record["text"] for record in records}
    matches = by_places(made.report, made.rows("passages"), known)
    assert {row["doc_a"].split(":")[0] for _, row in matches} == set(texts)
    page = opener.open(made.page)
    assert_views(page)
    assert_slices(page, made.report, known, [pair for pair in matches if not pair[1]["doc_a"].startswith("long")])
    direction = "text => getComputedStyle(text).direction"
    for match, row in matches:
        name = row["doc_a"].split(":")[0]
        show(page, f"#view=match&match={match['key']}")
        text = page.locator(".passage[aria-current] .text").first
        expect(text).to_be_visible()
        assert text.evaluate(direction) == ("rtl" if name == "hebrew" else "ltr")
        if name == "hebrew":
            expect(page.locator(".passage mark.number")).to_have_text(["1990", "2001"])
        if name == "long":
            expect(text).to_have_text(re.compile(re.escape(words[:1000])))
            assert len(text.text_content()) == 20_000
            assert sum(match["at"][1::2]) - sum(match["at"][0::2]) >= 2 * 1_000_000


def test_result_without_rows(opener, tmp_path):
    prose = Prose(5)
    corpus = write_lines(tmp_path / "texts.jsonl", [{"id": at, "text": prose.sentences(5)} for at in range(5)])
    run("passages", corpus, "-o", f"{tmp_path}/reuse/")
    made = Made(tmp_path, tmp_path / "reuse", corpus)
    page = opener.open(made.page)
    assert assert_views(page) == ["Overview", "Verdicts"]
    assert sums(page)["documents"] == "5"


def test_families_are_whole_where_there_is_room(tmp_path):
    prose = Prose(8)
    common, shared = [prose.sentences(40) for _ in range(3)], prose.sentences(5)
    records = [{"id": at, "text": f"{prose.sentences(2)} {common[at % 3]} {shared if at < 2 else prose.sentences(2)}"} for at in range(200)]
    corpus = write_lines(tmp_path / "texts.jsonl", records)
    run("passages", corpus, "-o", f"{tmp_path}/reuse/")
    made = Made(tmp_path, tmp_path / "reuse", corpus, "--max-size", "1MiB")
    shown = sum(len(group["shown"]) for group in made.report["groups"])
    assert shown == len(made.rows("families"))


# Faults that are known: each of these tests fails until its fault is mended


def test_families_of_two_collections_with_the_same_ids(tmp_path):
    prose = Prose(7)
    common = prose.sentences(5)
    first = [{"id": str(at), "text": f"{prose.sentences(2)} {common} {prose.sentences(2)}"} for at in range(30)]
    second = [{"id": str(at), "text": f"{prose.sentences(4)} {common} {prose.sentences(1)}"} for at in range(30)]
    a, b = write_lines(tmp_path / "a.jsonl", first), write_lines(tmp_path / "b.jsonl", second)
    run("passages", a, "--against", b, "-o", f"{tmp_path}/reuse/")
    made = Made(tmp_path, tmp_path / "reuse", a, "--against", b)
    [group] = made.report["groups"]
    assert group["places"] == len(made.rows("families"))
    assert len({place["key"] for place in group["shown"]}) == len(group["shown"])


def test_clusters_of_documents(notes):
    run("clusters", notes / "corpus", "--unit", "document", "--signature", "shingles:3", "-o", notes / "of-documents")
    made = Made(notes, notes / "of-documents", notes / "corpus")
    assert made.report["totals"]["groups"] > 0


def test_a_template_with_an_unknown_column_is_refused(notes):
    run("pairs", notes / "corpus", "-o", notes / "linked.parquet")
    run("report", notes / "linked.parquet", "--corpus", notes / "corpus", "-o", notes / "linked.html", "--link-template", "https://example.org/{nothing}", code=1)


def test_the_text_of_a_thread_is_its_fields(tmp_path):
    prose = Prose(11)
    body = prose.sentences(3)
    threads = [{"id": name, "title": f"How to sort a list of {name}", "body": f"{body} {name}."} for name in ["names", "words"]]
    file = write_lines(tmp_path / "threads.jsonl", threads)
    run("threads", file, "--field", "title=0.5", "--field", "body=0.5", "-o", tmp_path / "threads.parquet")
    made = Made(tmp_path, tmp_path / "threads.parquet", file)
    assert len(made.report["matches"]) == 1
    texts = {document["id"]: document["parts"][0][1] for document in made.report["documents"]}
    assert texts == {thread["id"]: f"{thread['title']}\n\n{thread['body']}" for thread in threads}


# Safety


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    """Returns a collection with the payloads as ids, texts, values and names of columns."""
    folder = tmp_path_factory.mktemp("hostile")
    prose = Prose(6)
    common = f"{prose.words(12)} {' '.join(PAYLOADS[:3])} {prose.words(12)} {' '.join(PAYLOADS[-3:])} {prose.words(8)}."
    records = []
    for at in range(0, len(PAYLOADS), 2):
        pair = PAYLOADS[at : at + 2]
        shared = f"{prose.words(10)} {pair[0]} {prose.words(10)} {pair[-1]} {prose.words(12)}."
        for side, payload in enumerate(pair):
            text = f"{prose.sentences(1)} {shared if side == 0 else with_word(shared, 3, payload)}\n{prose.sentences(1)} {common if at < 60 else ''} {payload}"
            records.append({"id": payload or "nothing", "text": text, "url": payload, "source": pair[0], payload or "nothing": payload})
    write_lines(folder / "hostile.jsonl", records)
    run("ingest", folder / "hostile.jsonl", "-o", folder / "corpus")
    return folder


def title():
    return "".join(payload for payload in PAYLOADS[::5] if "\0" not in payload)[:4000]


@pytest.mark.parametrize("method", ["passages", "clusters"])
def test_payloads_in_results_are_text(opener, hostile, method):
    options = ["--method", "exact"] if method == "clusters" else []
    run(method, hostile / "corpus", *options, "-o", f"{hostile}/{method}/")
    made = Made(hostile, hostile / method, hostile / "corpus", "--title", title(), "--link-template", "{url}", "--time-column", "source")
    assert made.page.read_text(encoding="utf-8").count("</script") == 2
    report = made.report
    assert set(report["columns"]) >= {payload for payload in PAYLOADS if payload} - {"id", "text"}
    links = {document["link"] for document in report["documents"]} - {None}
    assert links <= set(LINKS) | set(PAYLOADS) and all(re.match("(https?|file)://", link) for link in links)
    page = opener.open(made.page)
    assert page.evaluate(CHECK) == []
    for view in ["matches", "groups", "plot", "verdicts"]:
        show(page, f"#view={view}")
        expect(page.locator("#app h2")).to_be_visible()
        while page.locator("#app .more button:visible").count() > 0:
            page.locator("#app .more button").click()
        assert page.evaluate(CHECK) == [], view
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280, view
    problems = page.evaluate(
        """async ([matches, groups]) => {
            const check = %s, problems = [];
            for (const hash of [...matches.map((key) => `#view=match&match=${key}`),
                ...groups.map((key) => `#view=group&group=${encodeURIComponent(key)}`)]) {
                location.hash = hash;
                await new Promise((resolve) => setTimeout(resolve));
                problems.push(...check());
            }
            return problems;
        }"""
        % CHECK,
        [[match["key"] for match in report["matches"]][::3], [group["key"] for group in report["groups"]][:40]],
    )
    assert problems == []
    assert len(report["groups"]) > 0 and len(report["matches"]) > (150 if method == "passages" else 0)
    show(page, "#view=matches")
    for column in range(0, len(report["columns"]) - 1, 40):
        page.get_by_label("Column").select_option(index=column)
        assert page.evaluate(CHECK) == []


def test_payloads_in_results_without_scripts(opener, hostile):
    run("passages", hostile / "corpus", "-o", f"{hostile}/plain/")
    made = Made(hostile, hostile / "plain", hostile / "corpus", "--title", title(), "--link-template", "https://example.org/{id}")
    page = opener.open(made.page, java_script_enabled=False)
    assert page.evaluate(CHECK) == []
    expect(page.locator("#plain > .rows").first.locator("> .row")).to_have_count(40)
    hrefs = page.locator("a").evaluate_all("links => links.map((link) => link.href)")
    assert hrefs and all(href.startswith("https://example.org/") for href in hrefs)
    shown = page.locator("#plain > .rows").first.locator("> .row .ids bdi").all_text_contents()
    documents = made.report["documents"]
    ids = [documents[match[side]]["id"] for match in made.report["matches"][:40] for side in "ab"]
    # A picture stands for a control character.
    picture = re.compile("[\0-\x08\x0b-\x1f\x7f]")
    assert shown == [picture.sub(lambda found: "\u2421" if found[0] == "\x7f" else chr(0x2400 + ord(found[0])), name.replace("\r\n", "\n")) for name in ids]
