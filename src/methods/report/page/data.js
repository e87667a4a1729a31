// The data of the report: its types, the texts of documents, and lookups.

/**
 * @typedef {object} Report
 * @property {number} version
 * @property {string} method
 * @property {string} result 16 hex digits that verdicts are keyed by
 * @property {string} title
 * @property {[one: string, many: string]} nouns words for one and for several groups
 * @property {string[]} columns names of the users' columns of documents
 * @property {number | null} time index in columns of the time column
 * @property {TextDocument[]} documents
 * @property {Match[]} matches best first
 * @property {Group[]} groups largest first
 * @property {Plot[]} plots
 * @property {{matches: number, groups: number}} totals of the result
 */
/**
 * @typedef {object} TextDocument
 * @property {string} id
 * @property {number} side 1 for a document of the other collection, else 0
 * @property {number} length of the text, in UTF-16 units
 * @property {(string | null)[]} values
 * @property {number | null} seconds
 * @property {string | null} link
 * @property {[offset: number, text: string][]} parts of the text, ascending
 */
/** @typedef {[aStart: number, aEnd: number, bStart: number, bEnd: number]} Ranges */
/**
 * @typedef {object} Match
 * @property {string} key
 * @property {number} a
 * @property {number} b
 * @property {Ranges} at
 * @property {Ranges | null} sentences
 * @property {number | null} similarity
 * @property {string | null} kind
 * @property {Record<string, string>} fields
 * @property {number[]} edits
 */
/**
 * @typedef {object} Group
 * @property {string} key
 * @property {string} name
 * @property {boolean} ignored
 * @property {number} documents
 * @property {number} places
 * @property {Place[]} shown
 */
/**
 * @typedef {object} Place
 * @property {string} key
 * @property {number} document
 * @property {[start: number, end: number]} at
 * @property {boolean} representative
 * @property {number | null} similarity
 * @property {number[]} edits from the representative to this place
 */
/**
 * @typedef {object} Plot
 * @property {number} a
 * @property {number} b
 * @property {number} bins
 * @property {[a: number, b: number]} sentences
 * @property {string} cells
 */
/** @typedef {{row: number, column: number, similarity: number}} Cell */
/** @typedef {{a: number, b: number, matches: number[], plot: Plot | null}} Pair as in its first match */
/**
 * @typedef {object} Index
 * @property {Map<string, number[]>} documents by id, which two documents of two collections may share; the one of side 0 is first
 * @property {Map<string, number>} matches by key
 * @property {Map<string, number>} groups by key
 * @property {Map<string, {group: number, place: number}>} places by key
 * @property {Map<string, Pair>} pairs by `pairName`, those with most matches first
 */

/**
 * Parses the data of a report.
 * @param {string} text
 * @returns {Report}
 */
export function parseReport(text) {
    const report = JSON.parse(text);
    if (report.version !== 1) {
        throw new Error(`cannot show a report of version ${report.version}`);
    }
    return report;
}

/**
 * Returns true if a dot plot of some pair of documents tells something.
 * @param {Report} report
 */
export function hasPlots({ plots, matches }) {
    return plots.length > 0 || matches.some(({ sentences }) => sentences !== null);
}

/**
 * Returns the name of a pair of documents in either order.
 * @param {number} a
 * @param {number} b
 */
export function pairName(a, b) {
    return a <= b ? `${a} ${b}` : `${b} ${a}`;
}

/**
 * Builds the lookups of a report.
 * @param {Report} report
 * @returns {Index}
 */
export function indexReport(report) {
    /** @type {Map<string, Pair>} */
    const pairs = new Map();
    /** @param {number} a @param {number} b */
    function pairOf(a, b) {
        const name = pairName(a, b);
        let pair = pairs.get(name);
        if (!pair) {
            pair = { a, b, matches: [], plot: null };
            pairs.set(name, pair);
        }
        return pair;
    }
    report.matches.forEach((match, at) => pairOf(match.a, match.b).matches.push(at));
    for (const plot of report.plots) {
        pairOf(plot.a, plot.b).plot = plot;
    }
    // A pair with a plot has more matches than the report.
    const sorted = [...pairs].sort(
        ([, x], [, y]) => Number(y.plot !== null) - Number(x.plot !== null) || y.matches.length - x.matches.length,
    );
    /** @type {Index} */
    const index = {
        documents: new Map(),
        matches: new Map(report.matches.map((match, at) => [match.key, at])),
        groups: new Map(report.groups.map((group, at) => [group.key, at])),
        places: new Map(),
        pairs: new Map(sorted),
    };
    report.documents.forEach(({ id, side }, at) => {
        const known = index.documents.get(id);
        known ? known.splice(side === 0 ? 0 : known.length, 0, at) : index.documents.set(id, [at]);
    });
    report.groups.forEach((group, at) => {
        group.shown.forEach((place, shown) => index.places.set(place.key, { group: at, place: shown }));
    });
    return index;
}

/**
 * Splits a range of a text into what the report has of it and what it lacks (text null).
 * @param {TextDocument} document
 * @param {number} start
 * @param {number} end
 * @returns {{start: number, end: number, text: string | null}[]}
 */
export function splitRange(document, start, end) {
    const pieces = [];
    let at = start;
    for (const [offset, text] of document.parts) {
        const from = Math.max(at, offset);
        const to = Math.min(end, offset + text.length);
        if (from < to) {
            if (at < from) {
                pieces.push({ start: at, end: from, text: null });
            }
            pieces.push({ start: from, end: to, text: text.slice(from - offset, to - offset) });
            at = to;
        }
    }
    if (at < end) {
        pieces.push({ start: at, end, text: null });
    }
    return pieces;
}

/**
 * Returns a slice of a text; characters that the report lacks are left out.
 * @param {TextDocument} document
 * @param {number} start
 * @param {number} end
 */
export function sliceText(document, start, end) {
    for (const [offset, text] of document.parts) {
        if (offset <= start && end <= offset + text.length) {
            return text.slice(start - offset, end - offset);
        }
    }
    return splitRange(document, start, end)
        .map((piece) => piece.text ?? "")
        .join("");
}

/**
 * Decodes the cells of a plot.
 * @param {Plot} plot
 * @returns {Cell[]}
 */
export function decodeCells(plot) {
    const bytes = atob(plot.cells);
    const cells = [];
    let cell = 0;
    let at = 0;
    while (at < bytes.length) {
        let delta = 0;
        let scale = 1;
        let byte = 0x80;
        while (byte >= 0x80 && at < bytes.length) {
            byte = bytes.charCodeAt(at++);
            delta += (byte & 0x7f) * scale;
            scale *= 128;
        }
        cell += delta;
        const similarity = bytes.charCodeAt(at++) / 255;
        cells.push({ row: Math.floor(cell / plot.bins), column: cell % plot.bins, similarity });
    }
    return cells;
}
