// Edits between two slices of text, as runs of equal and changed characters.

/**
 * A run; a changed one without characters is where the other side has some.
 * @typedef {{start: number, end: number, changed: boolean, number: boolean, name: boolean}} Run
 */

const NUMBER = 1;
const NAME = 2;
/** Nothing but white space differs, which is not shown. */
const SPACE = 4;

/**
 * Returns the runs of one side of a match, from its start to a length. Edits past the length are cut.
 * @param {number[]} edits four numbers an edit: gap, units of a, units of b, flags
 * @param {"a" | "b"} side
 * @param {number} length
 * @returns {Run[]}
 */
export function runsOf(edits, side, length) {
    /** @type {Run[]} */
    const runs = [];
    const own = side === "a" ? 1 : 2;
    let at = 0;
    /** @param {number} units @param {boolean} changed @param {number} flags */
    function push(units, changed, flags) {
        changed &&= (flags & SPACE) === 0;
        const end = Math.min(at + units, length);
        if (end > at || (changed && units === 0)) {
            runs.push({ start: at, end, changed, number: (flags & NUMBER) !== 0, name: (flags & NAME) !== 0 });
            at = end;
        }
    }
    for (let edit = 0; edit + 3 < edits.length && at <= length; edit += 4) {
        push(edits[edit], false, 0);
        push(edits[edit + own], true, edits[edit + 3]);
    }
    push(length - at, false, 0);
    return runs;
}

/**
 * Returns the same edits in the other direction.
 * @param {number[]} edits
 */
export function reverseEdits(edits) {
    return edits.map((value, at) => (at % 4 === 1 ? edits[at + 1] : at % 4 === 2 ? edits[at - 1] : value));
}

/**
 * Counts edits, and those in which a number or a name differs.
 * @param {number[]} edits
 */
export function countEdits(edits) {
    const counts = { all: 0, numbers: 0, names: 0 };
    for (let edit = 0; edit + 3 < edits.length; edit += 4) {
        counts.all += edits[edit + 3] & SPACE ? 0 : 1;
        counts.numbers += edits[edit + 3] & NUMBER ? 1 : 0;
        counts.names += edits[edit + 3] & NAME ? 1 : 0;
    }
    return counts;
}
