// The list of matches.
import { append, formatCount, formatDay, formatNumber, formatSimilarity, make, makeName, pagedList } from "./elements.js";
import { matchFilters } from "./filters.js";
import { findMatches, matchLength } from "./list.js";
import { excerpt } from "./text.js";
import { verdictBadge } from "./verdict_bar.js";

/** @import { Page, State, View } from "./state.js" */

/** Characters of each excerpt. */
const EXCERPT = 240;

/**
 * Returns the names of two documents.
 * @param {Page} page
 * @param {number} a
 * @param {number} b
 */
export function pairLabel({ report }, a, b) {
    const arrow = make("span", { class: "arrow" }, " ↔ ");
    return [makeName(report.documents[a].id), arrow, makeName(report.documents[b].id)];
}

/**
 * Returns the facts of a match in short.
 * @param {Page} page
 * @param {number} at
 */
function matchMeta({ report, verdicts }, at) {
    const match = report.matches[at];
    const meta = make("p", { class: "meta" });
    const days = [report.documents[match.a].seconds, report.documents[match.b].seconds];
    append(
        meta,
        match.similarity !== null && make("span", {}, `similarity ${formatSimilarity(match.similarity)}`),
        make("span", {}, formatCount(matchLength(match), "character")),
        match.kind !== null && make("span", {}, make("bdi", {}, match.kind)),
        days.some((day) => day !== null) &&
            make("span", {}, days.map((day) => (day === null ? "no date" : formatDay(day))).join(" ↔ ")),
        verdictBadge(verdicts, match.key),
    );
    return meta;
}

/**
 * Returns a row of the list.
 * @param {Page} page
 * @param {number} at
 */
function matchRow(page, at) {
    const { report } = page;
    const match = report.matches[at];
    const { a, b, edits } = match;
    const link = make("a", { href: page.link({ view: "match", match: match.key }) }, ...pairLabel(page, a, b));
    return make(
        "li",
        { class: "row", "data-key": match.key },
        make("p", { class: "ids" }, link),
        matchMeta(page, at),
        make(
            "div",
            { class: "pair" },
            make("div", { class: "side" }, excerpt(report.documents[a], [match.at[0], match.at[1]], edits, "a", EXCERPT)),
            make("div", { class: "side" }, excerpt(report.documents[b], [match.at[2], match.at[3]], edits, "b", EXCERPT)),
        ),
    );
}

/**
 * Returns the list of matches.
 * @param {Page} page
 * @param {State} state
 * @param {State} before that was left for it
 * @returns {View}
 */
export function matchesView(page, state, before) {
    const { report, verdicts } = page;
    const heading = make("h2", { tabindex: -1 }, "Matches");
    const count = make("p", { class: "count", role: "status" });
    const holder = make("div");
    const { form, setFields } = matchFilters(page, state);
    const element = make("section", { class: "view" }, heading, form, count, holder);
    /** @type {HTMLElement} */
    let focus = heading;

    /** @param {State} shown */
    function update(shown) {
        setFields(shown);
        const found = findMatches(report, verdicts, shown);
        const missing = report.totals.matches - report.matches.length;
        const rows = pagedList(found, (at) => matchRow(page, at), {
            shown(rowCount) {
                count.textContent = [
                    found.length === 0
                        ? "No match fits the filters"
                        : `${formatNumber(rowCount)} of ${formatCount(found.length, "match", "matches")} shown`,
                    found.length < report.matches.length && `${formatNumber(report.matches.length)} without filters`,
                    missing > 0 && `${formatCount(missing, "further match", "further matches")} of the result not in the report`,
                ]
                    .filter(Boolean)
                    .join("; ");
            },
        });
        holder.replaceChildren(rows.element);
        return { found, rows };
    }

    const { found, rows } = update(state);
    // Coming back from a match, its row has the focus.
    const open = found.findIndex((at) => report.matches[at].key === before.match);
    if (open >= 0) {
        rows.show(Math.ceil((open + 1) / 50) * 50);
        focus = rows.list.children[open].querySelector("a") ?? heading;
    }
    return {
        element,
        title: "Matches",
        focus,
        update(shown) {
            update(shown);
            return true;
        },
    };
}
