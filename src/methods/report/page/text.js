// Text of documents on the page: marked differences, long texts in steps, and context.
import { append, formatCount, formatNumber, make, makeButton } from "./elements.js";
import { sliceText, splitRange } from "./data.js";
import { runsOf } from "./edits.js";

/** @import { TextDocument } from "./data.js" */
/** @import { Run } from "./edits.js" */

/** Characters of a text that are shown at first. */
const TEXT_LIMIT = 20_000;
/** Characters that each press of the button adds. */
const TEXT_STEP = 100_000;
/** Characters of context that are shown beside a passage. */
const CONTEXT = 300;

/**
 * Moves a position out of a surrogate pair.
 * @param {string} text
 * @param {number} at
 */
function outsidePair(text, at) {
    const code = text.charCodeAt(at);
    return code >= 0xdc00 && code <= 0xdfff && at > 0 ? at - 1 : at;
}

/**
 * Returns the end of the word at a position, if it is near.
 * @param {string} text
 * @param {number} at
 */
function wordEnd(text, at) {
    const space = text.slice(at, at + 20).search(/\s/u);
    return space < 0 ? outsidePair(text, at) : at + space;
}

/**
 * Appends a range of a text to an element, with changed runs marked.
 * @param {Element} parent
 * @param {string} text
 * @param {Run[]} runs
 * @param {number} start
 * @param {number} end
 */
function appendRuns(parent, text, runs, start, end) {
    for (const run of runs) {
        const from = Math.max(run.start, start);
        const to = Math.min(run.end, end);
        const isGap = run.start === run.end && run.start >= start && (run.start < end || end === text.length);
        if (from < to || isGap) {
            const shown = text.slice(from, to);
            const kinds = [run.number && "number", run.name && "name"].filter(Boolean).join(" ");
            append(parent, run.changed ? make("mark", { class: kinds || null }, shown) : shown);
        }
    }
}

/**
 * Returns a paragraph with differences marked. A long text is shown in steps.
 * @param {TextDocument} document
 * @param {readonly [number, number]} at
 * @param {number[]} edits
 * @param {"a" | "b"} side
 */
export function markedText(document, [start, end], edits, side) {
    const text = sliceText(document, start, end);
    const runs = runsOf(edits, side, text.length);
    const paragraph = make("p", { class: "text", dir: "auto" });
    const block = make("div", {}, paragraph);
    let shown = 0;
    const button = makeButton("", () => extend(TEXT_STEP));
    /** @param {number} count */
    function extend(count) {
        const next = outsidePair(text, Math.min(text.length, shown + count));
        appendRuns(paragraph, text, runs, shown, next);
        shown = next;
        const left = text.length - shown;
        button.textContent = `Show ${formatNumber(Math.min(left, TEXT_STEP))} of ${formatCount(left, "more character")}`;
        if (left === 0) {
            button.remove();
        }
    }
    extend(TEXT_LIMIT);
    if (shown < text.length) {
        block.append(button);
    }
    if (text.length < end - start) {
        block.append(missingText(end - start - text.length));
    }
    return block;
}

/**
 * Returns the beginning of a text with differences marked, in one paragraph.
 * @param {TextDocument} document
 * @param {readonly [number, number]} at
 * @param {number[]} edits
 * @param {"a" | "b"} side
 * @param {number} limit
 */
export function excerpt(document, [start, end], edits, side, limit) {
    const text = sliceText(document, start, Math.min(end, start + limit + 20));
    const cut = end - start > limit ? wordEnd(text, Math.min(limit, text.length)) : text.length;
    const paragraph = make("p", { class: "text excerpt", dir: "auto" });
    appendRuns(paragraph, text, runsOf(edits, side, cut), 0, cut);
    append(paragraph, cut < end - start && "…");
    return paragraph;
}

/** @param {number} count */
function missingText(count) {
    return make("p", { class: "missing" }, `${formatCount(count, "character")} not in the report`);
}

/**
 * Returns a paragraph of context.
 * @param {string} text
 */
function contextText(text) {
    return make("p", { class: "text context", dir: "auto" }, text);
}

/**
 * Returns text that is folded until a reader opens it.
 * @param {TextDocument} document
 * @param {number} start
 * @param {number} end
 */
function foldedText(document, start, end) {
    const fold = make("details", { class: "fold" }, make("summary", {}, formatCount(end - start, "character")));
    fold.addEventListener(
        "toggle",
        () => {
            const block = markedText(document, [start, end], [], "a");
            block.querySelector("p")?.classList.add("context");
            fold.append(block);
        },
        { once: true },
    );
    return fold;
}

/**
 * Returns the text between two passages, or before or after one: what is near them in full, the rest folded.
 * @param {TextDocument} document
 * @param {number} start
 * @param {number} end
 * @param {{after: boolean, before: boolean}} near passage at the start of the range, at its end
 */
export function contextBetween(document, start, end, near) {
    const block = make("div", { class: "between" });
    const head = near.after ? CONTEXT : 0;
    const tail = near.before ? CONTEXT : 0;
    for (const piece of splitRange(document, start, end)) {
        if (piece.text === null) {
            block.append(missingText(piece.end - piece.start));
            continue;
        }
        const { text } = piece;
        // A fold of a few words is not worth a press.
        if (end - start <= head + tail + 100) {
            block.append(contextText(text));
            continue;
        }
        const first = head === 0 ? 0 : wordEnd(text, Math.min(Math.max(start + head - piece.start, 0), text.length));
        const last = tail === 0 ? text.length : Math.max(wordEnd(text, Math.max(end - tail - piece.start, 0)), first);
        if (first > 0) {
            block.append(contextText(text.slice(0, first)));
        }
        if (last > first) {
            const until = Math.min(last, text.length);
            block.append(foldedText(document, piece.start + first, piece.start + until));
        }
        if (last < text.length) {
            block.append(contextText(text.slice(last)));
        }
    }
    return block;
}
