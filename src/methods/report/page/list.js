// Finding and sorting of matches.
import { sliceText } from "./data.js";
import { parseDay } from "./state.js";

/** @import { Match, Report } from "./data.js" */
/** @import { State } from "./state.js" */
/** @import { Verdicts } from "./verdicts.js" */

/** Characters of a passage in which text is sought. */
const SEARCHED = 20_000;
/** Values of a column that are offered. */
const VALUES = 200;

/**
 * Returns the length of the shorter side of a match.
 * @param {Match} match
 */
export function matchLength({ at }) {
    return Math.min(at[1] - at[0], at[3] - at[2]);
}

/**
 * Returns the tests of a state that a match must pass.
 * @param {Report} report
 * @param {Verdicts} verdicts
 * @param {State} state
 * @returns {((match: Match) => boolean)[]}
 */
function testsOf(report, verdicts, state) {
    const { documents } = report;
    /** @type {((match: Match) => boolean)[]} */
    const tests = [];
    if (state.length > 0) {
        tests.push((match) => matchLength(match) >= state.length);
    }
    if (state.low > 0 || state.high < 1) {
        tests.push(({ similarity }) => similarity !== null && similarity >= state.low && similarity <= state.high);
    }
    if (state.kind !== "") {
        tests.push(({ kind }) => kind === state.kind);
    }
    const column = report.columns.indexOf(state.column);
    if (column >= 0 && state.value !== "") {
        const has = documents.map((document) => document.values[column] === state.value);
        tests.push(({ a, b }) => has[a] || has[b]);
    }
    const from = parseDay(state.from);
    const to = parseDay(state.to);
    if (report.time !== null && (from !== null || to !== null)) {
        const within = documents.map(
            ({ seconds }) =>
                seconds !== null && (from === null || seconds >= from) && (to === null || seconds < to + 86_400),
        );
        tests.push(({ a, b }) => within[a] || within[b]);
    }
    if (state.verdict === "none") {
        tests.push(({ key }) => !verdicts.get(key));
    } else if (state.verdict !== "") {
        tests.push(({ key }) => verdicts.get(key)?.verdict === state.verdict);
    }
    const sought = state.find.trim().toLowerCase();
    if (sought !== "") {
        const inId = documents.map(({ id }) => id.toLowerCase().includes(sought));
        /** @param {number} document @param {number} start @param {number} end */
        const inText = (document, start, end) =>
            sliceText(documents[document], start, Math.min(end, start + SEARCHED)).toLowerCase().includes(sought);
        tests.push(
            ({ a, b, at }) => inId[a] || inId[b] || inText(a, at[0], at[1]) || inText(b, at[2], at[3]),
        );
    }
    return tests;
}

/**
 * Returns the positions of the matches that a state asks for, in its order.
 * @param {Report} report
 * @param {Verdicts} verdicts
 * @param {State} state
 * @returns {number[]}
 */
export function findMatches(report, verdicts, state) {
    const tests = testsOf(report, verdicts, state);
    /** @type {number[]} */
    const found = [];
    report.matches.forEach((match, at) => {
        if (tests.every((test) => test(match))) {
            found.push(at);
        }
    });
    return sortMatches(report, found, state.sort);
}

/**
 * Sorts positions of matches; ties are in the given order.
 * @param {Report} report
 * @param {number[]} found
 * @param {string} sort
 */
function sortMatches({ matches, documents }, found, sort) {
    /** @param {(match: Match) => number} value greatest first, NaN last */
    function sortBy(value) {
        const values = new Float64Array(matches.length);
        for (const at of found) {
            const number = value(matches[at]);
            values[at] = Number.isNaN(number) ? -Infinity : number;
        }
        return found.sort((x, y) => (values[y] > values[x] ? 1 : values[y] < values[x] ? -1 : x - y));
    }
    /** @param {Match} match */
    function seconds({ a, b }) {
        const known = [documents[a].seconds, documents[b].seconds].filter((time) => time !== null);
        return known.length > 0 ? Math.max(...known) : NaN;
    }
    switch (sort) {
        case "length":
            return sortBy(matchLength);
        case "similarity":
            return sortBy(({ similarity }) => similarity ?? NaN);
        case "newest":
            return sortBy(seconds);
        case "oldest":
            return sortBy((match) => -seconds(match));
        case "ids": {
            const compare = new Intl.Collator("en", { numeric: true }).compare;
            const order = documents.map((_, at) => at).sort((x, y) => compare(documents[x].id, documents[y].id));
            const ranks = new Int32Array(documents.length);
            order.forEach((document, rank) => (ranks[document] = rank));
            return found.sort(
                (x, y) =>
                    ranks[matches[x].a] - ranks[matches[y].a] || ranks[matches[x].b] - ranks[matches[y].b] || x - y,
            );
        }
        default:
            return found;
    }
}

/**
 * Counts the matches of each value of a column, those of most matches first.
 * @param {Report} report
 * @param {number} column
 * @returns {[value: string, count: number][]}
 */
export function countValues({ matches, documents }, column) {
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const { a, b } of matches) {
        const first = documents[a].values[column];
        const second = documents[b].values[column];
        for (const value of first === second ? [first] : [first, second]) {
            if (value !== null) {
                counts.set(value, (counts.get(value) ?? 0) + 1);
            }
        }
    }
    return [...counts].sort(([x, m], [y, n]) => n - m || (x < y ? -1 : 1)).slice(0, VALUES);
}

/**
 * Counts the matches of each kind.
 * @param {Report} report
 * @returns {[kind: string, count: number][]}
 */
export function countKinds({ matches }) {
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const { kind } of matches) {
        if (kind !== null) {
            counts.set(kind, (counts.get(kind) ?? 0) + 1);
        }
    }
    return [...counts].sort(([, m], [, n]) => n - m);
}
