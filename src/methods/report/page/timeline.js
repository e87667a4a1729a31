// A timeline of places as bars, by year, month or day.
import { formatCount, formatNumber, make, makeSvg } from "./elements.js";

/** @typedef {{label: string, count: number}} Bar */

const DAY = 86_400_000;
/** Bars that a timeline has at most. */
const BARS = 150;

/**
 * Counts times by the finest of day, month, year, or several years that keeps the bars few.
 * @param {number[]} seconds
 * @returns {{unit: string, bars: Bar[]}}
 */
export function countTimes(seconds) {
    const dates = seconds.map((second) => new Date(second * 1000)).filter((date) => !Number.isNaN(date.getTime()));
    const first = dates.reduce((least, date) => Math.min(least, date.getTime()), Infinity);
    const last = dates.reduce((greatest, date) => Math.max(greatest, date.getTime()), -Infinity);
    if (dates.length === 0) {
        return { unit: "day", bars: [] };
    }
    /** @type {(date: Date) => number} */
    let position;
    /** @type {(at: number) => string} */
    let label;
    let unit;
    const years = new Date(last).getUTCFullYear() - new Date(first).getUTCFullYear();
    if (last - first <= 92 * DAY) {
        unit = "day";
        position = (date) => Math.floor(date.getTime() / DAY);
        label = (at) => new Date(at * DAY).toISOString().slice(0, -14);
    } else if (years <= 8) {
        unit = "month";
        position = (date) => date.getUTCFullYear() * 12 + date.getUTCMonth();
        label = (at) => `${Math.floor(at / 12)}-${String((((at % 12) + 12) % 12) + 1).padStart(2, "0")}`;
    } else {
        let step = 1;
        while (years / step > BARS) {
            step *= step.toString().startsWith("2") ? 2.5 : 2;
        }
        unit = step === 1 ? "year" : `${formatNumber(step)} years`;
        position = (date) => Math.floor(date.getUTCFullYear() / step);
        label = (at) => (step === 1 ? String(at) : `${at * step} to ${at * step + step - 1}`);
    }
    const start = position(new Date(first));
    const bars = Array.from({ length: position(new Date(last)) - start + 1 }, (_, at) => ({
        label: label(start + at),
        count: 0,
    }));
    for (const date of dates) {
        bars[position(date) - start].count += 1;
    }
    return { unit, bars };
}

/**
 * Returns the timeline of times, or null if there are fewer than two.
 * @param {number[]} seconds
 */
export function timeline(seconds) {
    const { unit, bars } = countTimes(seconds);
    if (seconds.length < 2 || bars.length === 0) {
        return null;
    }
    const [width, height, margin] = [720, 120, 22];
    const most = bars.reduce((greatest, { count }) => Math.max(greatest, count), 0);
    const step = width / bars.length;
    const peak = bars.find(({ count }) => count === most);
    const [first, last] = [bars[0].label, bars[bars.length - 1].label];
    const range = first === last ? first : `${first} to ${last}`;
    const caption = `${formatCount(seconds.length, "place")} by ${unit}, ${range}; most in ${peak?.label}: ${formatNumber(most)}`;
    const drawing = makeSvg("svg", {
        class: "chart",
        viewBox: `0 0 ${width} ${height + margin}`,
        role: "img",
        "aria-label": caption,
    });
    bars.forEach(({ label, count }, at) => {
        const size = count === 0 ? 0 : Math.max((count / most) * (height - 4), 3);
        if (size > 0) {
            const gap = step > 4 ? 1 : 0;
            const bar = makeSvg("rect", {
                class: "bar",
                x: (at * step + Math.max(step - 40, 0) / 2).toFixed(2),
                y: (height - size).toFixed(2),
                width: (Math.min(step, 40) - gap).toFixed(2),
                height: size.toFixed(2),
            });
            bar.append(makeSvg("title", {}, `${label}: ${formatNumber(count)}`));
            drawing.append(bar);
        }
    });
    drawing.append(makeSvg("line", { class: "axis", x1: 0, x2: width, y1: height, y2: height }));
    drawing.append(makeSvg("text", { class: "label", x: 0, y: height + 16 }, first));
    if (bars.length > 1) {
        drawing.append(makeSvg("text", { class: "label", x: width, y: height + 16, "text-anchor": "end" }, last));
    }
    return make("figure", { class: "timeline" }, drawing, make("figcaption", {}, caption));
}
