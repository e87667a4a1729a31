"""Looks at pages that tests have opened."""

import re

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from page import units

CHECK = """() => {
    const problems = [];
    const bad = "iframe, object, embed, img, video, audio, link, base, frame, portal, body form:not(.filters), meta ~ template";
    for (const element of document.querySelectorAll(bad)) {
        problems.push(`<${element.localName}>`);
    }
    if (document.querySelectorAll("script").length !== 2 || document.querySelectorAll("style").length !== 1) {
        problems.push("scripts or styles");
    }
    if (window.pwned !== undefined) {
        problems.push("pwned");
    }
    for (const element of document.querySelectorAll("*")) {
        for (const { name, value } of element.attributes) {
            const link = ["href", "src", "action", "formaction", "xlink:href"].includes(name);
            if (name.startsWith("on") || name === "srcdoc" || (link && !/^(#|https?:|file:)/i.test(value))) {
                problems.push(`${name}=${value}`);
            }
        }
    }
    return problems;
}"""


def pictures(text):
    """Returns a text as the page shows it."""
    text = re.sub("\r(?!\n)|[\0-\x08\x0b\x0c\x0e-\x1f]", lambda found: chr(0x2400 + ord(found[0])), text)
    return re.sub("[\x80-\x9f]", "\ufffd", text.replace("\x7f", "\u2421"))


def rows(page):
    return page.locator("#app .rows > .row")


def shown_texts(page, passage):
    return passage.locator(".text").evaluate_all("texts => texts.map((text) => text.textContent)")


def show(page, fragment):
    page.evaluate("(fragment) => { location.hash = fragment; }", fragment)


def show_match(page, key):
    """Opens a match; returns its passage, with all of its text."""
    show(page, f"#view=match&match={key}")
    passage = page.locator(".passage[aria-current]")
    expect(passage).to_have_attribute("data-key", key)
    while passage.locator(".pair button").count() > 0:
        passage.locator(".pair button").first.click()
    return passage


def sums(page):
    """Returns the numbers of the overview by their names."""
    cells = page.locator("#overview .sums tr").evaluate_all(
        "rows => rows.map((row) => [row.querySelector('th').textContent, row.querySelector('td').textContent])"
    )
    return {name: value.replace(",", "") for name, value in cells}


def assert_views(page):
    """Opens all views and looks at them; returns their names."""
    names = page.locator("nav[aria-label=Views] a").evaluate_all("links => links.map((link) => link.firstChild.data)")
    for name in names:
        page.locator("nav[aria-label=Views] a", has_text=name).click()
        heading = page.locator("#overview h2" if name == "Overview" else "#app h2").first
        expect(heading).to_be_visible()
        assert page.evaluate(CHECK) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280, name
        if name in ("Overview", "Matches"):
            # The rows after the first ones are like these.
            page.evaluate("document.querySelectorAll('#app .row:nth-child(n + 6)').forEach((row) => row.remove())")
            results = Axe().run(page)
            assert results.violations_count == 0, f"{name}: {results.generate_report()}"
    return names


def assert_slices(page, report, texts, matches, other=None):
    """Opens matches; each side is the slice of its text."""
    for match, row in matches:
        passage = show_match(page, match["key"])
        a, b = texts[row["doc_a"]], (other or texts)[row["doc_b"]]
        expected = [a[row["char_a_start"] : row["char_a_end"]], b[row["char_b_start"] : row["char_b_end"]]]
        assert shown_texts(page, passage.locator(".pair").first) == [pictures(text) for text in expected], row


def by_places(report, rows_of_table, texts, other=None):
    """Returns the match of each row of a table by its places."""
    offsets = {}

    def unit(text, at):
        """Counts units of UTF-16 where characters are counted."""
        known = offsets.setdefault(id(text), text.isascii() or max(text) < "\U00010000")
        return at if known else units(text[:at])

    places = {}
    for match in report["matches"]:
        a, b = (report["documents"][match[side]] for side in "ab")
        places[a["id"], b["id"], *match["at"]] = match
    found = []
    for row in rows_of_table:
        a, b = texts[row["doc_a"]], (other or texts)[row["doc_b"]]
        at = [unit(a, row["char_a_start"]), unit(a, row["char_a_end"]), unit(b, row["char_b_start"]), unit(b, row["char_b_end"])]
        # A report has as many as there is room for.
        if (match := places.get((row["doc_a"], row["doc_b"], *at))) is not None:
            found.append((match, row))
    return found
