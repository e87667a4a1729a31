// What the page shows, and the fragment of the address that keeps it.

/** @import { Index, Report } from "./data.js" */
/** @import { Verdicts } from "./verdicts.js" */

/**
 * @typedef {object} State
 * @property {string} view
 * @property {string} find text to find in excerpts and ids
 * @property {string} column
 * @property {string} value of the column
 * @property {number} length least characters
 * @property {number} low least similarity
 * @property {number} high greatest similarity
 * @property {string} kind
 * @property {string} from day
 * @property {string} to day
 * @property {string} verdict
 * @property {string} sort
 * @property {string} match key of the open match
 * @property {string} group key of the open group
 * @property {string} place key of the open place of the group
 * @property {string} a id of the first document of the plot
 * @property {string} b id of the second one
 */

/**
 * @typedef {object} Page
 * @property {Report} report
 * @property {Index} index
 * @property {Verdicts} verdicts
 * @property {(changes: Partial<State>, replace?: boolean) => void} go shows a changed state
 * @property {(changes: Partial<State>) => string} link returns the fragment of a changed state
 * @property {() => boolean} keys returns true if single keys are in use
 * @property {(use: boolean) => void} useKeys
 */

/**
 * @typedef {object} View
 * @property {HTMLElement} element
 * @property {string} title
 * @property {HTMLElement} focus gets the focus when the view is opened
 * @property {(state: State) => boolean} [update] shows another state in place; false if it cannot
 * @property {(key: string) => boolean} [key] handles a key; false if it does not know it
 * @property {() => void} [opened] runs when the element is in the page
 * @property {() => void} [closed]
 */

export const VIEWS = ["overview", "matches", "match", "groups", "group", "plot", "verdicts"];
export const SORTS = ["best", "length", "similarity", "newest", "oldest", "ids"];

/** The state of the list without filters. */
export const NO_FILTERS = Object.freeze({
    find: "",
    value: "",
    length: 0,
    low: 0,
    high: 1,
    kind: "",
    from: "",
    to: "",
    verdict: "",
});

/** @type {Readonly<State>} */
export const START = Object.freeze({
    view: "overview",
    column: "",
    ...NO_FILTERS,
    sort: "best",
    match: "",
    group: "",
    place: "",
    a: "",
    b: "",
});

/**
 * Returns the fragment of a state, with its `#`. Only what differs from the start is in it.
 * @param {State} state
 */
export function formatFragment(state) {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(state)) {
        if (name === "view" || value !== START[/** @type {keyof State} */ (name)]) {
            parameters.set(name, String(value));
        }
    }
    return `#${parameters}`;
}

/**
 * Parses a day; returns the seconds of its beginning, or null.
 * @param {string} day
 */
export function parseDay(day) {
    const milliseconds = /^\d{4}-\d\d-\d\d$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : NaN;
    return Number.isNaN(milliseconds) ? null : milliseconds / 1000;
}

/**
 * Parses a fragment. What is unknown or out of range is as at the start.
 * @param {string} fragment
 * @returns {State}
 */
export function parseFragment(fragment) {
    const parameters = new URLSearchParams(fragment.replace(/^#/, ""));
    /** @type {Record<string, string | number>} */
    const state = { ...START };
    for (const [name, value] of parameters) {
        if (!Object.hasOwn(START, name)) {
            continue;
        }
        if (typeof START[/** @type {keyof State} */ (name)] === "number") {
            const number = Number(value);
            const greatest = name === "length" ? Number.MAX_SAFE_INTEGER : 1;
            state[name] = number >= 0 && number <= greatest ? number : state[name];
        } else {
            state[name] = value;
        }
    }
    const parsed = /** @type {State} */ (/** @type {unknown} */ (state));
    parsed.view = VIEWS.includes(parsed.view) ? parsed.view : START.view;
    parsed.from = parseDay(parsed.from) === null ? "" : parsed.from;
    parsed.to = parseDay(parsed.to) === null ? "" : parsed.to;
    parsed.sort = SORTS.includes(parsed.sort) ? parsed.sort : START.sort;
    return parsed;
}
