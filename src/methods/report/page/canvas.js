// Drawing of a dot plot.
import { make } from "./elements.js";

/** @import { Geometry } from "./plot.js" */

/** Colours of a similarity, from the least to the greatest; each has contrast to the page. */
const STEPS = 5;

/** Returns the colours of the style sheet, which differ in light and dark. */
function plotColours() {
    const style = getComputedStyle(document.documentElement);
    /** @param {string} name */
    const colour = (name) => style.getPropertyValue(name).trim();
    return {
        steps: Array.from({ length: STEPS }, (_, step) => colour(`--plot-${step + 1}`)),
        common: colour("--plot-common"),
        line: colour("--line"),
        chosen: colour("--focus"),
    };
}

/**
 * Returns the step of a similarity within the range of the plot.
 * @param {number | null} similarity
 * @param {number} least
 */
function stepOf(similarity, least) {
    if (similarity === null || least >= 1) {
        return STEPS - 1;
    }
    return Math.min(Math.max(Math.floor(((similarity - least) / (1 - least)) * STEPS), 0), STEPS - 1);
}

/**
 * Returns the least similarity of what is drawn.
 * @param {Geometry} geometry
 */
export function leastSimilarity({ segments, cells }) {
    let least = 1;
    for (const { similarity } of segments) {
        least = Math.min(least, similarity ?? 1);
    }
    for (const { similarity } of cells) {
        least = Math.min(least, similarity);
    }
    // Rounded down to a tenth.
    return Math.max(Math.floor(least * 10 + 1e-9) / 10, 0);
}

/**
 * Draws a plot for its size on the page.
 * @param {HTMLCanvasElement} canvas
 * @param {Geometry} geometry
 * @param {number} chosen segment, or -1
 */
export function drawPlot(canvas, geometry, chosen) {
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    const context = canvas.getContext("2d");
    if (!context || width === 0) {
        return;
    }
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    context.scale(ratio, ratio);
    const colours = plotColours();
    const least = leastSimilarity(geometry);
    const [unitX, unitY] = [width / geometry.extent[0], height / geometry.extent[1]];

    context.fillStyle = colours.common;
    for (const { x, y } of geometry.common) {
        const size = [Math.max((x[1] - x[0]) * unitX, 2), Math.max((y[1] - y[0]) * unitY, 2)];
        context.fillRect(x[0] * unitX, y[0] * unitY, size[0], size[1]);
    }
    const [cellX, cellY] = geometry.cellSize;
    const dot = [Math.max(cellX * unitX, 1.5), Math.max(cellY * unitY, 1.5)];
    for (const { row, column, similarity } of geometry.cells) {
        context.fillStyle = colours.steps[stepOf(similarity, least)];
        context.fillRect(column * cellX * unitX, row * cellY * unitY, dot[0], dot[1]);
    }
    context.lineCap = "round";
    // Dots cannot be opened; passages stand out from them.
    context.lineWidth = geometry.cells.length > 0 ? 5 : 3;
    geometry.segments.forEach(({ x, y, similarity }) => {
        context.strokeStyle = colours.steps[stepOf(similarity, least)];
        context.beginPath();
        context.moveTo(x[0] * unitX, y[0] * unitY);
        context.lineTo(x[1] * unitX, y[1] * unitY);
        context.stroke();
    });
    const segment = geometry.segments[chosen];
    if (segment) {
        const { x, y } = segment;
        context.strokeStyle = colours.chosen;
        context.lineWidth = 2;
        context.strokeRect(
            x[0] * unitX - 6,
            y[0] * unitY - 6,
            (x[1] - x[0]) * unitX + 12,
            (y[1] - y[0]) * unitY + 12,
        );
    }
}

/**
 * Returns the legend of the colours.
 * @param {Geometry} geometry
 * @param {string} noun of a group
 */
export function plotLegend(geometry, noun) {
    const list = make("ul", { class: "legend plot-legend" });
    const least = leastSimilarity(geometry);
    const known = geometry.cells.length > 0 || geometry.segments.some(({ similarity }) => similarity !== null);
    const steps = known && least < 1 ? STEPS : 1;
    for (let step = STEPS - steps; step < STEPS; step++) {
        const from = least + ((1 - least) * step) / STEPS;
        const to = least + ((1 - least) * (step + 1)) / STEPS;
        const range = `${step === 0 ? "similarity " : ""}${from.toFixed(2)}–${to.toFixed(2)}`;
        const label = steps === 1 ? "passage" : range;
        list.append(make("li", {}, make("span", { class: `swatch step-${step + 1}` }), label));
    }
    if (geometry.common.length > 0) {
        list.append(make("li", {}, make("span", { class: "swatch common" }), `common text (a ${noun} has places in both)`));
    }
    return list;
}
