// Geometry of a dot plot: passages, cells and common text in units of both documents.
import { decodeCells } from "./data.js";
import { pairPassages } from "./passages.js";

/** @import { Cell, Pair, Report } from "./data.js" */

/** @typedef {{match: number, key: string, similarity: number | null, x: [number, number], y: [number, number]}} Segment */
/** @typedef {{x: [number, number], y: [number, number]}} Area */
/**
 * @typedef {object} Geometry
 * @property {"sentence" | "character"} unit
 * @property {[x: number, y: number]} extent
 * @property {Segment[]} segments in the order of the first document
 * @property {Cell[]} cells
 * @property {[x: number, y: number]} cellSize
 * @property {Area[]} common
 */

/** Areas of common text that are drawn. */
const COMMON_LIMIT = 20_000;

/**
 * Lays out the pair of documents: the first one from left to right, the second one from top to bottom.
 * @param {Report} report
 * @param {Pair} pair
 * @returns {Geometry}
 */
export function layOut(report, pair) {
    const [first, second] = [report.documents[pair.a], report.documents[pair.b]];
    const passages = pairPassages(report, pair.matches, pair.a);
    const inSentences = pair.plot !== null || passages.every(({ sentences }) => sentences[0] && sentences[1]);
    /** @type {[number, number]} */
    let extent = [Math.max(first.length, 1), Math.max(second.length, 1)];
    if (pair.plot) {
        const [a, b] = pair.plot.sentences;
        extent = pair.plot.a === pair.a ? [a, b] : [b, a];
    } else if (inSentences) {
        extent = [countSentences(report, pair.a), countSentences(report, pair.b)];
    }
    /** @type {[number, number]} */
    const scale = inSentences
        ? [extent[0] / Math.max(first.length, 1), extent[1] / Math.max(second.length, 1)]
        : [1, 1];
    /** @type {Segment[]} */
    const segments = passages.map(({ match, at, sentences }) => {
        /** @param {0 | 1} side @returns {[number, number]} */
        const range = (side) =>
            (inSentences && sentences[side]) || [at[side][0] * scale[side], at[side][1] * scale[side]];
        const { key, similarity } = report.matches[match];
        return { match, key, similarity, x: range(0), y: range(1) };
    });
    const cells = pair.plot ? decodeCells(pair.plot) : [];
    // Rows of cells are sentences of the plot's own first document.
    const isTurned = pair.plot !== null && pair.plot.a !== pair.a;
    return {
        unit: inSentences ? "sentence" : "character",
        extent,
        segments,
        cells: isTurned ? cells : cells.map(({ row, column, similarity }) => ({ row: column, column: row, similarity })),
        cellSize: [extent[0] / (pair.plot?.bins ?? 1), extent[1] / (pair.plot?.bins ?? 1)],
        common: commonAreas(report, pair, scale),
    };
}

/**
 * Returns the number of sentences of a document, as far as its matches tell.
 * @param {Report} report
 * @param {number} document
 */
function countSentences(report, document) {
    for (const plot of report.plots) {
        if (plot.a === document || plot.b === document) {
            return plot.sentences[plot.a === document ? 0 : 1];
        }
    }
    let sentences = 1;
    let characters = 1;
    for (const match of report.matches) {
        for (const [own, end] of [[match.a, 1], [match.b, 3]]) {
            if (own === document && match.sentences && match.at[end] > characters) {
                characters = match.at[end];
                sentences = Math.max(sentences, match.sentences[end]);
            }
        }
    }
    return Math.max(Math.round((sentences * report.documents[document].length) / characters), sentences);
}

/**
 * Returns the areas where both documents have a place of the same group.
 * @param {Report} report
 * @param {Pair} pair
 * @param {[number, number]} scale units a character
 * @returns {Area[]}
 */
function commonAreas(report, pair, scale) {
    /** @type {Area[]} */
    const areas = [];
    for (const group of report.groups) {
        const across = group.shown.filter(({ document }) => document === pair.a);
        const down = across.length === 0 ? [] : group.shown.filter(({ document }) => document === pair.b);
        for (const { at: x } of across) {
            for (const { at: y } of down) {
                if (areas.length === COMMON_LIMIT) {
                    return areas;
                }
                areas.push({ x: [x[0] * scale[0], x[1] * scale[0]], y: [y[0] * scale[1], y[1] * scale[1]] });
            }
        }
    }
    return areas;
}

/**
 * Returns the segment that is nearest to a point, in pixels of a canvas, or -1 if none is near.
 * @param {Geometry} geometry
 * @param {[number, number]} size of the canvas
 * @param {[number, number]} point
 * @param {number} reach
 */
export function nearestSegment({ segments, extent }, size, point, reach) {
    let nearest = -1;
    let least = reach;
    segments.forEach(({ x, y }, at) => {
        const start = [(x[0] / extent[0]) * size[0], (y[0] / extent[1]) * size[1]];
        const along = [(x[1] / extent[0]) * size[0] - start[0], (y[1] / extent[1]) * size[1] - start[1]];
        const length = along[0] ** 2 + along[1] ** 2;
        const away = [point[0] - start[0], point[1] - start[1]];
        const share = length === 0 ? 0 : Math.min(Math.max((away[0] * along[0] + away[1] * along[1]) / length, 0), 1);
        const distance = Math.hypot(away[0] - share * along[0], away[1] - share * along[1]);
        if (distance < least) {
            least = distance;
            nearest = at;
        }
    });
    return nearest;
}
