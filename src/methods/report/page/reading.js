// The reading view: two documents side by side.
import { append, formatCount, formatNumber, formatSimilarity, keyButton, make, makeButton, makeFacts, makeName } from "./elements.js";
import { hasPlots, pairName } from "./data.js";
import { countEdits } from "./edits.js";
import { findMatches } from "./list.js";
import { pairLabel } from "./matches.js";
import { contextOf, differenceCount, documentFacts, legend, pairPassages } from "./passages.js";
import { markedText } from "./text.js";
import { verdictBadge, verdictBar } from "./verdict_bar.js";

/** @import { Page, State, View } from "./state.js" */

/** Passages that are shown before and after the open one. */
const AROUND = 12;

/**
 * Returns the reading view of a match.
 * @param {Page} page
 * @param {State} state
 * @returns {View}
 */
export function readingView(page, state) {
    const { report, index, verdicts } = page;
    const opened = index.matches.get(state.match);
    const heading = make("h2", { tabindex: -1 });
    const backLink = make("a", { href: page.link({ view: "matches", match: "" }) }, "Back to the list");
    const back = make("p", { class: "back" }, backLink);
    const element = make("section", { class: "view" }, back, heading);
    if (opened === undefined) {
        append(heading, "This match is not in the report");
        return { element, title: "Match", focus: heading };
    }
    const { a: left, b: right } = report.matches[opened];
    const sides = [left, right];
    const passages = pairPassages(report, index.pairs.get(pairName(left, right))?.matches ?? [], left);
    const bar = verdictBar(verdicts);
    const count = make("p", { class: "count", role: "status" });
    const grid = make("div", { class: "passages" });
    /** @type {Map<number, HTMLElement>} */
    const rows = new Map();
    /** Rows that are shown; empty before the first. */
    let low = 0;
    let high = -1;
    let current = passages.findIndex(({ match }) => match === opened);

    append(heading, ...pairLabel(page, left, right));
    element.classList.toggle("single", passages.length === 1);
    if (hasPlots(report)) {
        const plot = page.link({ view: "plot", a: report.documents[left].id, b: report.documents[right].id });
        append(back, make("a", { href: plot }, "Dot plot of these documents"));
    }
    element.append(
        make(
            "div",
            { class: "pair heads" },
            ...sides.map((document) =>
                make(
                    "div",
                    { class: "side" },
                    make("h3", {}, makeName(report.documents[document].id)),
                    documentFacts(page, document),
                ),
            ),
        ),
        legend(),
        count,
        grid,
        bar.element,
    );

    /** @param {number} at */
    function passageRow(at) {
        const passage = passages[at];
        const match = report.matches[passage.match];
        const edits = countEdits(passage.edits);
        const sentences = passage.sentences.map((range) =>
            !range ? "" : range[1] - range[0] === 1 ? `${range[0] + 1}` : `${range[0] + 1}–${range[1]}`,
        );
        const meta = make("p", { class: "meta" });
        append(
            meta,
            match.similarity !== null && make("span", {}, `similarity ${formatSimilarity(match.similarity)}`),
            make("span", {}, differenceCount(passage.edits)),
            edits.numbers > 0 && make("span", {}, `${formatNumber(edits.numbers)} in numbers`),
            edits.names > 0 && make("span", {}, `${formatNumber(edits.names)} in names`),
            sentences[0] !== "" && make("span", {}, `sentences ${sentences[0]} ↔ ${sentences[1]}`),
            match.kind !== null && make("span", {}, make("bdi", {}, match.kind)),
            verdictBadge(verdicts, match.key),
        );
        const fields = Object.entries(match.fields);
        const row = make(
            "article",
            { class: "passage", "data-key": match.key, "aria-label": `Passage ${at + 1}` },
            make("h3", { tabindex: -1 }, `Passage ${formatNumber(at + 1)} of ${formatNumber(passages.length)}`),
            meta,
            fields.length > 0 && makeFacts(fields),
            make(
                "div",
                { class: "pair" },
                ...sides.map((document, side) =>
                    make(
                        "div",
                        { class: "side" },
                        make("p", { class: "which" }, makeName(report.documents[document].id)),
                        markedText(report.documents[document], passage.at[side], passage.edits, side === 0 ? "a" : "b"),
                    ),
                ),
            ),
        );
        rows.set(at, row);
        return row;
    }

    /**
     * Returns the row of context before a passage; after the last of them if there is none.
     * @param {number} at
     * @param {boolean} hasBefore
     * @param {boolean} hasAfter
     */
    function contextRow(at, hasBefore, hasAfter) {
        return make(
            "div",
            { class: "pair context-row" },
            ...sides.map((document, side) => {
                const before = hasBefore ? passages[at - 1].at[side] : undefined;
                const after = hasAfter ? passages[at].at[side] : undefined;
                const isEdge = (hasBefore || at === 0) && (hasAfter || at === passages.length);
                const context = contextOf(page, document, before, after, isEdge);
                context.classList.add("side");
                return context;
            }),
        );
    }

    /** @param {number} from @param {number} to */
    function showRows(from, to) {
        low = Math.max(from, 0);
        high = Math.min(to, passages.length);
        rows.clear();
        grid.replaceChildren();
        if (low > 0) {
            const shown = low;
            append(grid, makeButton(`Show ${formatCount(Math.min(low, 2 * AROUND), "earlier passage")}`, () => {
                showRows(low - 2 * AROUND, high);
                rows.get(Math.max(shown - 1, 0))?.querySelector("h3")?.focus();
            }));
        }
        for (let at = low; at < high; at++) {
            grid.append(contextRow(at, at > low, true), passageRow(at));
        }
        grid.append(contextRow(high, high > low, false));
        if (high < passages.length) {
            const shown = high;
            const later = Math.min(passages.length - high, 2 * AROUND);
            append(grid, makeButton(`Show ${formatCount(later, "later passage")}`, () => {
                showRows(low, high + 2 * AROUND);
                rows.get(shown)?.querySelector("h3")?.focus();
            }));
        }
        setCurrent(current);
    }

    /** @param {number} at */
    function setCurrent(at) {
        rows.get(current)?.removeAttribute("aria-current");
        current = at;
        rows.get(at)?.setAttribute("aria-current", "true");
        const match = report.matches[passages[at].match];
        bar.show({ key: match.key, similarity: match.similarity, name: `passage ${formatNumber(at + 1)}` });
        count.textContent = `Passage ${formatNumber(at + 1)} of ${formatNumber(passages.length)} of these documents`;
    }

    function reveal() {
        const row = rows.get(current);
        row?.querySelector("h3")?.focus({ preventScroll: true });
        row?.scrollIntoView({ block: "start" });
    }

    /** @param {number} step */
    function move(step) {
        const next = passages[current + step];
        if (next) {
            page.go({ match: report.matches[next.match].key }, true);
        } else {
            moveInList(step, true);
        }
        return true;
    }

    /**
     * Opens the next match of the list, or the next one of other documents.
     * @param {number} step
     * @param {boolean} isOther
     */
    function moveInList(step, isOther) {
        const found = findMatches(report, verdicts, listState);
        let at = found.indexOf(passages[current].match) + step;
        const same = pairName(left, right);
        while (isOther && found[at] !== undefined && pairName(report.matches[found[at]].a, report.matches[found[at]].b) === same) {
            at += step;
        }
        if (found[at] === undefined) {
            count.textContent = step > 0 ? "This is the last match of the list" : "This is the first match of the list";
        } else {
            page.go({ match: report.matches[found[at]].key }, true);
        }
        return true;
    }

    let listState = state;
    showRows(current - AROUND, current + AROUND + 1);
    const buttons = make(
        "div",
        { class: "buttons" },
        keyButton("Previous passage", "p", () => move(-1)),
        keyButton("Next passage", "n", () => move(1)),
        keyButton("Previous in the list", "←", () => moveInList(-1, false)),
        keyButton("Next in the list", "→", () => moveInList(1, false)),
    );
    bar.element.prepend(buttons);
    return {
        element,
        title: `${report.documents[left].id} ↔ ${report.documents[right].id}`,
        focus: heading,
        opened: () => (current > 0 ? reveal() : undefined),
        update(shown) {
            const at = passages.findIndex(({ match }) => report.matches[match].key === shown.match);
            if (at < 0) {
                return false;
            }
            listState = shown;
            if (at < low || at >= high) {
                current = at;
                showRows(at - AROUND, at + AROUND + 1);
            } else {
                setCurrent(at);
            }
            reveal();
            return true;
        },
        key(pressed) {
            switch (pressed) {
                case "n":
                case "j":
                    return move(1);
                case "p":
                case "k":
                    return move(-1);
                case "ArrowRight":
                    return moveInList(1, false);
                case "ArrowLeft":
                    return moveInList(-1, false);
                case "Escape":
                    page.go({ view: "matches", match: "" });
                    return true;
                default:
                    return bar.key(pressed);
            }
        },
    };
}
