// Verdicts of readers: kept in memory and in the browser, saved to and loaded from files of NDJSON.
import { formatCount } from "./elements.js";

/** @import { Report } from "./data.js" */

/**
 * @typedef {object} Verdict
 * @property {string} result
 * @property {string} key of the match or place
 * @property {string} verdict
 * @property {string} note
 * @property {string} method
 * @property {number | null} similarity
 * @property {string} at time in UTC
 */
/** @typedef {{key: string, similarity: number | null, name: string}} Subject */
/** @typedef {{loaded: number, other: number, invalid: number}} Loaded */
/** @typedef {ReturnType<typeof createVerdicts>} Verdicts */

/** @type {[verdict: string, key: string, label: string][]} */
export const VERDICTS = [
    ["same", "s", "Same text"],
    ["quotation", "q", "Quotation"],
    ["boilerplate", "b", "Boilerplate"],
    ["false", "f", "False match"],
    ["unsure", "u", "Unsure"],
];

/** @param {string} verdict */
export function verdictLabel(verdict) {
    return VERDICTS.find(([name]) => name === verdict)?.[2] ?? "";
}

/**
 * Parses a line of NDJSON; null if it is no verdict.
 * @param {string} line
 * @returns {Verdict | null}
 */
export function parseVerdict(line) {
    try {
        const { result, key, verdict, note = "", method = "", similarity = null, at = "" } = JSON.parse(line);
        const texts = [result, key, verdict, note, method, at].every((value) => typeof value === "string");
        const known = VERDICTS.some(([name]) => name === verdict);
        return texts && known && (similarity === null || typeof similarity === "number")
            ? { result, key, verdict, note, method, similarity, at }
            : null;
    } catch {
        return null;
    }
}

/**
 * Creates the verdicts of a report, with those that the browser kept.
 * @param {Report} report
 * @param {() => Storage} storage may fail, as for files
 */
export function createVerdicts(report, storage) {
    const name = `ibid-verdicts-${report.result}`;
    /** @type {Map<string, Verdict>} */
    const verdicts = new Map();
    let kept = true;
    let stored = "";

    function format() {
        return [...verdicts.values()].map((verdict) => `${JSON.stringify(verdict)}\n`).join("");
    }

    function keep() {
        try {
            stored = format();
            storage().setItem(name, stored);
            kept = true;
        } catch {
            kept = false;
        }
    }

    /**
     * Adds verdicts. Of two with a key the later one stays: by time where both have one, else by order.
     * @param {string} text
     * @returns {Loaded}
     */
    function load(text) {
        const counts = { loaded: 0, other: 0, invalid: 0 };
        for (const line of text.replace(/^\ufeff/, "").split("\n")) {
            const verdict = line.trim() === "" ? undefined : parseVerdict(line);
            if (verdict === null) {
                counts.invalid += 1;
            } else if (verdict && verdict.result !== report.result) {
                counts.other += 1;
            } else if (verdict) {
                const present = verdicts.get(verdict.key);
                if (!present || !present.at || !verdict.at || present.at <= verdict.at) {
                    verdicts.set(verdict.key, verdict);
                }
                counts.loaded += 1;
            }
        }
        return counts;
    }

    /** Reads what the browser kept; other tabs write there too. */
    function restore() {
        try {
            const present = storage().getItem(name) ?? "";
            if (present !== stored) {
                load(present);
                stored = present;
            }
        } catch {
            kept = false;
        }
    }
    restore();

    return {
        name,
        format,
        restore,
        /** @param {string} text */
        load(text) {
            const counts = load(text);
            keep();
            return counts;
        },
        /** @param {string} key */
        get(key) {
            return verdicts.get(key);
        },
        all() {
            return [...verdicts.values()];
        },
        isKept() {
            return kept;
        },
        /**
         * Sets the verdict and the note of a subject; no verdict clears both.
         * @param {Subject} subject
         * @param {string} verdict
         * @param {string} note
         */
        set({ key, similarity }, verdict, note) {
            restore();
            verdicts.delete(key);
            if (verdict !== "") {
                const at = new Date().toISOString().replace(/\.\d+Z$/, "Z");
                verdicts.set(key, { result: report.result, key, verdict, note, method: report.method, similarity, at });
            }
            keep();
        },
    };
}

/**
 * Formats the counts of a load as a sentence.
 * @param {Loaded} counts
 */
export function loadedMessage({ loaded, other, invalid }) {
    return [
        `${formatCount(loaded, "verdict")} loaded`,
        other > 0 && `${formatCount(other, "line")} of another result left out`,
        invalid > 0 && `${formatCount(invalid, "line")} without a verdict left out`,
    ]
        .filter(Boolean)
        .join("; ");
}
