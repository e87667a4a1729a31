// Passages that two documents share, and what the report knows of the documents.
import { formatCount, formatDay, isSafeLink, make, makeFacts } from "./elements.js";
import { countEdits, reverseEdits } from "./edits.js";
import { contextBetween } from "./text.js";

/** @import { Report } from "./data.js" */
/** @import { Child } from "./elements.js" */
/** @import { Page } from "./state.js" */

/**
 * @typedef {object} Passage
 * @property {number} match
 * @property {[start: number, end: number][]} at left and right
 * @property {([start: number, end: number] | null)[]} sentences left and right
 * @property {number[]} edits left to right
 */

/**
 * Returns the passages of a pair in the order of the left document.
 * @param {Report} report
 * @param {number[]} positions of the matches
 * @param {number} left
 * @returns {Passage[]}
 */
export function pairPassages(report, positions, left) {
    return positions
        .map((position) => {
            const { a, at, sentences, edits } = report.matches[position];
            /** @param {[number, number, number, number]} ranges @returns {[start: number, end: number][]} */
            const sides = ([aStart, aEnd, bStart, bEnd]) =>
                a === left ? [[aStart, aEnd], [bStart, bEnd]] : [[bStart, bEnd], [aStart, aEnd]];
            return {
                match: position,
                at: sides(at),
                sentences: sentences ? sides(sentences) : [null, null],
                edits: a === left ? edits : reverseEdits(edits),
            };
        })
        .sort((x, y) => x.at[0][0] - y.at[0][0] || x.at[1][0] - y.at[1][0]);
}

/**
 * Returns what the report knows of a document.
 * @param {Page} page
 * @param {number} at
 */
export function documentFacts({ report }, at) {
    const { values, seconds, link, length } = report.documents[at];
    /** @type {[string, Child][]} */
    const facts = report.columns.flatMap((name, column) => {
        const value = values[column];
        return value === null || value === undefined ? [] : [[name, value]];
    });
    if (report.time === null && seconds !== null) {
        facts.push(["day", formatDay(seconds)]);
    }
    facts.push(["length", formatCount(length, "character")]);
    if (link !== null) {
        facts.push(["link", documentLink(link)]);
    }
    return makeFacts(facts);
}

/**
 * Returns a link to a document; plain text if it is unsafe.
 * @param {string} address
 */
function documentLink(address) {
    return isSafeLink(address)
        ? make("a", { href: address, rel: "noopener noreferrer", target: "_blank" }, address)
        : address;
}

/**
 * Returns the context between two neighbouring passages on a side, or before the first or after the last.
 * @param {Page} page
 * @param {number} document
 * @param {[number, number] | undefined} before
 * @param {[number, number] | undefined} after
 * @param {boolean} isEdge there is no passage of the pair before, or after
 */
export function contextOf({ report }, document, before, after, isEdge) {
    const text = report.documents[document];
    if (before && after && after[0] < before[1]) {
        // The right document may have the passages in another order.
        const crossed = after[0] < before[0];
        return crossed
            ? make(
                  "div",
                  { class: "between" },
                  contextBetween(text, before[1], Math.min(before[1] + 300, text.length), { after: true, before: false }),
                  make("p", { class: "missing" }, "earlier in this document"),
                  contextBetween(text, Math.max(after[0] - 300, 0), after[0], { after: false, before: true }),
              )
            : make("div", { class: "between" });
    }
    const start = before ? before[1] : isEdge ? 0 : Math.max((after?.[0] ?? 0) - 300, 0);
    const end = after ? after[0] : isEdge ? text.length : Math.min((before?.[1] ?? 0) + 300, text.length);
    return contextBetween(text, start, end, { after: before !== undefined, before: after !== undefined });
}

/**
 * Returns the number of differences in words.
 * @param {number[]} edits
 */
export function differenceCount(edits) {
    return edits.length === 0 ? "equal" : formatCount(countEdits(edits).all, "difference");
}

/** Returns a line that explains the marks. */
export function legend() {
    return make(
        "p",
        { class: "legend" },
        make("mark", {}, "word differs"),
        " ",
        make("mark", { class: "number" }, "number differs"),
        " ",
        make("mark", { class: "name" }, "name differs"),
        " ",
        make("span", {}, make("mark"), "words are missing"),
    );
}
