// Groups: families of common text and clusters of documents.
import { append, capital, formatCount, formatDay, formatNumber, formatSimilarity, make, makeButton, makeName, pagedList } from "./elements.js";
import { excerpt, markedText } from "./text.js";
import { differenceCount, documentFacts, legend } from "./passages.js";
import { timeline } from "./timeline.js";
import { verdictBadge, verdictBar } from "./verdict_bar.js";

/** @import { Group, Place } from "./data.js" */
/** @import { Page, State, View } from "./state.js" */

/** @param {Group} group */
function representativeOf({ shown }) {
    return shown.find(({ representative }) => representative) ?? shown[0];
}

/**
 * Returns the facts of a group in short.
 * @param {Group} group
 */
function groupMeta({ documents, places, ignored }) {
    return make(
        "p",
        { class: "meta" },
        make("span", {}, formatCount(documents, "document")),
        make("span", {}, formatCount(places, "place")),
        ignored && make("span", { class: "badge" }, "ignored"),
    );
}

/**
 * Returns the list of groups.
 * @param {Page} page
 * @param {State} _state
 * @param {State} before that was left for it
 * @returns {View}
 */
export function groupsView(page, _state, before) {
    const { report } = page;
    const [noun, nouns] = report.nouns;
    const heading = make("h2", { tabindex: -1 }, capital(nouns));
    const count = make("p", { class: "count", role: "status" });
    const missing = report.totals.groups - report.groups.length;
    /** @param {Group} group */
    function groupRow(group) {
        const place = representativeOf(group);
        const link = make("a", { href: page.link({ view: "group", group: group.key, place: "" }) });
        append(link, `${capital(noun)} `, make("bdi", {}, group.name));
        return make(
            "li",
            { class: "row" },
            make("p", { class: "ids" }, link),
            groupMeta(group),
            place && excerpt(report.documents[place.document], place.at, [], "a", 300),
        );
    }
    const rows = pagedList(report.groups, groupRow, {
        shown(shown) {
            count.textContent = [
                `${formatNumber(shown)} of ${formatCount(report.groups.length, noun, nouns)} shown`,
                missing > 0 && `${formatCount(missing, `further ${noun}`, `further ${nouns}`)} of the result not in the report`,
            ]
                .filter(Boolean)
                .join("; ");
        },
    });
    /** @type {HTMLElement} */
    let focus = heading;
    // Coming back from a group, its row has the focus.
    const open = page.index.groups.get(before.group);
    if (open !== undefined) {
        rows.show(Math.ceil((open + 1) / 50) * 50);
        focus = rows.list.children[open].querySelector("a") ?? heading;
    }
    return { element: make("section", { class: "view" }, heading, count, rows.element), title: capital(nouns), focus };
}

/**
 * Returns the places of a group.
 * @param {Page} page
 * @param {State} state
 * @returns {View}
 */
export function groupView(page, state) {
    const { report, index, verdicts } = page;
    const at = index.groups.get(state.group);
    const heading = make("h2", { tabindex: -1 });
    const back = make("p", { class: "back" }, make("a", { href: page.link({ view: "groups", group: "", place: "" }) }, `Back to the ${report.nouns[1]}`));
    const element = make("section", { class: "view" }, back, heading);
    if (at === undefined) {
        append(heading, `This ${report.nouns[0]} is not in the report`);
        return { element, title: capital(report.nouns[0]), focus: heading };
    }
    const group = report.groups[at];
    const { shown, places } = group;
    const representative = representativeOf(group);
    const bar = verdictBar(verdicts);
    const count = make("p", { class: "count", role: "status" });
    append(heading, `${capital(report.nouns[0])} `, make("bdi", {}, group.name));
    const seconds = shown.map(({ document }) => report.documents[document].seconds).filter((time) => time !== null);
    append(element, groupMeta(group), timeline(seconds));
    if (representative) {
        const whole = markedText(report.documents[representative.document], representative.at, [], "a");
        append(element, make("h3", {}, "Representative"), make("div", { class: "representative" }, whole));
    }
    append(element, make("h3", {}, "Places"), legend(), count);

    /** @param {Place} place @param {number} number */
    function placeRow(place, number) {
        const document = report.documents[place.document];
        const meta = make(
            "p",
            { class: "meta" },
            place === representative && make("span", { class: "badge" }, "representative"),
            place.similarity !== null && make("span", {}, `similarity ${formatSimilarity(place.similarity)}`),
            place !== representative && make("span", {}, differenceCount(place.edits)),
            document.seconds !== null && make("span", {}, formatDay(document.seconds)),
            verdictBadge(verdicts, place.key),
        );
        const choose = makeButton("Give a verdict", () => page.go({ place: place.key }, true));
        return make(
            "li",
            { class: "row place", "data-key": place.key },
            make("h4", { tabindex: -1 }, `${formatNumber(number + 1)}. `, makeName(document.id)),
            meta,
            documentFacts(page, place.document),
            place === representative ? make("p", { class: "missing" }, "Its text is above") : markedText(document, place.at, place.edits, "b"),
            place !== representative && choose,
        );
    }
    const rows = pagedList(shown, placeRow, {
        shown(rowCount) {
            const missing = places - shown.length;
            count.textContent = [
                `${formatNumber(rowCount)} of ${formatCount(shown.length, "place")} shown`,
                missing > 0 && `${formatCount(missing, "further place")} not in the report`,
            ]
                .filter(Boolean)
                .join("; ");
        },
    });
    append(element, rows.element, bar.element);
    bar.show(null);
    let current = -1;

    /** @param {number} place @param {boolean} isMoved */
    function setCurrent(place, isMoved) {
        const { key, similarity, document } = shown[place];
        rows.show(Math.ceil((place + 1) / 50) * 50);
        rows.list.children[current]?.removeAttribute("aria-current");
        current = place;
        const row = rows.list.children[place];
        row.setAttribute("aria-current", "true");
        const name = `place ${formatNumber(place + 1)}, ${report.documents[document].id}`;
        bar.show(shown[place] === representative ? null : { key, similarity, name });
        if (isMoved) {
            row.querySelector("h4")?.focus({ preventScroll: true });
            row.scrollIntoView({ block: "start" });
        }
    }

    /** @param {State} next @param {boolean} isMoved */
    function showPlace(next, isMoved) {
        const known = index.places.get(next.place);
        if (known && known.group === at) {
            setCurrent(known.place, isMoved);
        }
    }
    /** @param {number} step */
    function move(step) {
        const next = shown[current + step];
        if (next) {
            page.go({ place: next.key }, true);
        }
        return true;
    }
    return {
        element,
        title: `${capital(report.nouns[0])} ${group.name}`,
        focus: heading,
        opened: () => showPlace(state, true),
        update(next) {
            if (next.group !== group.key) {
                return false;
            }
            showPlace(next, true);
            return true;
        },
        key(pressed) {
            switch (pressed) {
                case "n":
                case "j":
                    return move(1);
                case "p":
                case "k":
                    return move(current < 0 ? 1 : -1);
                case "Escape":
                    page.go({ view: "groups", group: "", place: "" });
                    return true;
                default:
                    return bar.key(pressed);
            }
        },
    };
}
