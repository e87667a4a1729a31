// The dot plot of two documents, and the list of its passages.
import { append, formatCount, formatNumber, formatSimilarity, make, makeName, makeSelect, pagedList } from "./elements.js";
import { drawPlot, plotLegend } from "./canvas.js";
import { pairName } from "./data.js";
import { pairLabel } from "./matches.js";
import { layOut, nearestSegment } from "./plot.js";

/** @import { Pair } from "./data.js" */
/** @import { Page, State, View } from "./state.js" */
/** @import { Segment } from "./plot.js" */

/** Pairs of documents that are offered. */
const PAIRS = 500;
/** Pixels from a passage in which a click opens it. */
const REACH = 14;

/**
 * Returns the select of a pair of documents.
 * @param {Page} page
 * @param {Pair} pair that is shown
 */
function pairSelect(page, pair) {
    const { report, index } = page;
    /** @param {Pair} offered @returns {[string, string]} */
    const option = (offered) => {
        const { a, b, matches, plot } = offered;
        const count = plot ? "all matches as dots" : formatNumber(matches.length);
        return [pairName(a, b), `${report.documents[a].id} ↔ ${report.documents[b].id} (${count})`];
    };
    const shown = pairName(pair.a, pair.b);
    const pairs = [...index.pairs.values()].slice(0, PAIRS);
    if (!pairs.some(({ a, b }) => pairName(a, b) === shown)) {
        pairs.unshift(pair);
    }
    const label = index.pairs.size > PAIRS ? `Documents, the first ${PAIRS} pairs` : "Documents";
    const { element } = makeSelect(label, pairs.map(option), shown, (name) => {
        const chosen = index.pairs.get(name);
        if (chosen) {
            page.go({ a: report.documents[chosen.a].id, b: report.documents[chosen.b].id });
        }
    });
    element.classList.add("wide");
    return element;
}

/**
 * Returns the pair of a state: its ids in their order, or the pair with most matches.
 * @param {Page} page
 * @param {State} state
 * @returns {Pair | undefined}
 */
function pairOfState({ index }, state) {
    // Of two collections, a is of the first one and b of the other, whatever ids they share.
    for (const a of index.documents.get(state.a) ?? []) {
        for (const b of [...(index.documents.get(state.b) ?? [])].reverse()) {
            const known = index.pairs.get(pairName(a, b));
            if (known) {
                return { ...known, a, b };
            }
        }
    }
    return index.pairs.values().next().value;
}

/**
 * Returns the dot plot.
 * @param {Page} page
 * @param {State} state
 * @returns {View}
 */
export function plotView(page, state) {
    const { report } = page;
    const heading = make("h2", { tabindex: -1 }, "Dot plot");
    const element = make("section", { class: "view" }, heading);
    const pair = pairOfState(page, state);
    if (!pair) {
        append(element, make("p", {}, "The report has no matches."));
        return { element, title: "Dot plot", focus: heading };
    }
    const geometry = layOut(report, pair);
    const { segments, unit, extent } = geometry;
    // The report knows the lengths of documents in characters.
    const about = unit === "sentence" ? "about " : "";
    const names = [report.documents[pair.a].id, report.documents[pair.b].id];
    const said = make("p", { class: "count", role: "status" });
    const canvas = make("canvas", {
        class: "plot",
        tabindex: 0,
        role: "application",
        "aria-label": `Dot plot of ${names[0]} and ${names[1]}; arrow keys move through the passages, Enter opens one`,
    });
    // As high as the documents ask for, within what a screen has.
    const shape = Math.min(Math.max(extent[0] / extent[1], 0.75), 3);
    canvas.style.aspectRatio = String(shape);
    canvas.style.maxWidth = `calc(66vh * ${shape})`;
    const chosenKey = state.match;
    let chosen = segments.findIndex(({ key }) => key === chosenKey);

    /** @param {Segment} segment */
    const open = ({ key }) => page.go({ view: "match", match: key });

    /** @param {Segment} segment */
    function describe({ similarity, x, y }) {
        /** @param {[number, number]} range */
        const range = ([from, to]) =>
            to - from <= 1
                ? formatNumber(Math.floor(from) + 1)
                : `${formatNumber(Math.floor(from) + 1)}–${formatNumber(Math.ceil(to))}`;
        const score = similarity === null ? "" : `, similarity ${formatSimilarity(similarity)}`;
        return `${unit}s ${range(x)} ↔ ${range(y)}${score}`;
    }

    /** @param {number} at */
    function choose(at) {
        chosen = at;
        if (segments[at]) {
            said.textContent = `Passage ${formatNumber(at + 1)} of ${formatNumber(segments.length)}: ${describe(segments[at])}`;
        }
        draw();
    }

    function draw() {
        drawPlot(canvas, geometry, chosen);
    }

    canvas.addEventListener("keydown", (event) => {
        const last = segments.length - 1;
        /** @type {Record<string, number>} */
        const targets = {
            ArrowRight: Math.min(chosen + 1, last),
            ArrowDown: Math.min(chosen + 1, last),
            ArrowLeft: Math.max(chosen - 1, 0),
            ArrowUp: Math.max(chosen - 1, 0),
            Home: 0,
            End: last,
        };
        if (event.ctrlKey || event.altKey || event.metaKey) {
            return;
        }
        if (Object.hasOwn(targets, event.key) && last >= 0) {
            event.preventDefault();
            choose(targets[event.key]);
        } else if (event.key === "Enter" && segments[chosen]) {
            open(segments[chosen]);
        }
    });
    /** @param {MouseEvent} event */
    const under = (event) =>
        nearestSegment(geometry, [canvas.clientWidth, canvas.clientHeight], [event.offsetX, event.offsetY], REACH);
    canvas.addEventListener("click", (event) => {
        const at = under(event);
        if (segments[at]) {
            open(segments[at]);
        } else {
            said.textContent = "No passage of the report is here";
        }
    });
    canvas.addEventListener("mousemove", (event) => {
        const at = under(event);
        canvas.classList.toggle("over", at >= 0);
        canvas.title = segments[at] ? describe(segments[at]) : "";
    });

    const list = pagedList(
        segments,
        (segment, at) => {
            const link = make("a", { href: page.link({ view: "match", match: segment.key }) }, describe(segment));
            link.addEventListener("focus", () => choose(at));
            link.addEventListener("mouseenter", () => choose(at));
            return make("li", {}, link);
        },
        { class: "plain-rows" },
    );
    append(
        element,
        pairSelect(page, pair),
        make("p", { class: "ids" }, ...pairLabel(page, pair.a, pair.b)),
        make(
            "div",
            { class: "plot-area" },
            make(
                "figure",
                {},
                plotLegend(geometry, report.nouns[0]),
                canvas,
                make(
                    "figcaption",
                    {},
                    ...names.map((name, side) =>
                        make("span", {}, side === 0 ? "→ " : "↓ ", makeName(name), `, ${about}${formatCount(extent[side], unit)}`),
                    ),
                ),
                said,
            ),
            make(
                "section",
                { "aria-label": "Passages" },
                make("h3", {}, formatCount(segments.length, "passage")),
                pair.plot && make("p", { class: "missing" }, "The dots show all matches; the report has the texts of these."),
                list.element,
            ),
        ),
    );
    const watched = ["(prefers-color-scheme: dark)", "print"].map((query) => matchMedia(query));
    const observer = new ResizeObserver(draw);
    return {
        element,
        title: "Dot plot",
        focus: heading,
        opened() {
            observer.observe(canvas);
            watched.forEach((query) => query.addEventListener("change", draw));
            draw();
        },
        closed() {
            observer.disconnect();
            watched.forEach((query) => query.removeEventListener("change", draw));
        },
    };
}
