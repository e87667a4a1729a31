// Starts the page: shows the view of the address, and handles keys.
import { append, capital, formatNumber, make } from "./elements.js";
import { hasPlots, indexReport, parseReport } from "./data.js";
import { groupView, groupsView } from "./groups.js";
import { matchesView } from "./matches.js";
import { plotView } from "./plot_view.js";
import { readingView } from "./reading.js";
import { formatFragment, parseFragment } from "./state.js";
import { createVerdicts } from "./verdicts.js";
import { verdictsView } from "./verdicts_view.js";

/** @import { Page, State, View } from "./state.js" */

/** @type {Record<string, (page: Page, state: State, before: State) => View>} */
const BUILDERS = {
    matches: matchesView,
    match: readingView,
    groups: groupsView,
    group: groupView,
    plot: plotView,
    verdicts: verdictsView,
};

/** Keys of the views that have some. */
const PLACE_KEYS = "n or j next; p or k previous; s, q, b, f or u verdict; x clears it; Escape back to the list";
/** @type {Record<string, string>} */
const HELP = {
    match: `${PLACE_KEYS}; ← and → previous and next match of the list`,
    group: PLACE_KEYS,
};

/**
 * Returns an element of the page.
 * @param {string} id
 */
function part(id) {
    const found = document.getElementById(id);
    if (!found) {
        throw new Error(`cannot find #${id}`);
    }
    return found;
}

/** Starts the page. */
function start() {
    const report = parseReport(part("data").textContent ?? "");
    const index = indexReport(report);
    const verdicts = createVerdicts(report, () => localStorage);
    const [nav, overview, app] = [part("nav"), part("overview"), part("app")];
    const pageTitle = document.title;
    let state = parseFragment(location.hash);
    /** @type {View | null} */
    let view = null;
    let shown = "";
    let keysUsed = true;

    /** @type {Page} */
    const page = {
        report,
        index,
        verdicts,
        link: (changes) => formatFragment({ ...state, ...changes }),
        go(changes, replace = false) {
            const next = { ...state, ...changes };
            const fragment = formatFragment(next);
            try {
                history[replace ? "replaceState" : "pushState"](null, "", fragment);
            } catch {
                // Some browsers limit how often; the address then is an older one.
            }
            showState(next, true);
        },
        keys: () => keysUsed,
        useKeys(use) {
            keysUsed = use;
        },
    };

    /** @type {[name: string, label: string, count: number | null][]} */
    const links = [["overview", "Overview", null]];
    if (report.matches.length > 0) {
        links.push(["matches", "Matches", report.matches.length]);
    }
    if (report.groups.length > 0) {
        links.push(["groups", capital(report.nouns[1]), report.groups.length]);
    }
    if (hasPlots(report)) {
        links.push(["plot", "Dot plot", null]);
    }
    links.push(["verdicts", "Verdicts", null]);
    /** @type {Map<string, HTMLAnchorElement>} */
    const navLinks = new Map();
    for (const [name, label, count] of links) {
        const link = make("a", {}, label, count !== null && make("small", {}, ` ${formatNumber(count)}`));
        navLinks.set(name, link);
        nav.append(link);
    }
    if (!nav.hasAttribute("aria-label")) {
        nav.setAttribute("aria-label", "Views");
    }
    nav.hidden = false;
    part("plain").hidden = true;

    /** Returns the line of keys, with a box that turns single keys off. */
    function helpLine() {
        const box = make("input", { type: "checkbox", checked: page.keys() });
        box.addEventListener("change", () => page.useKeys(box.checked));
        return make("p", { class: "help" }, make("label", {}, box, " Keys"), `: ${HELP[state.view]}`);
    }

    /** @param {State} next @param {boolean} isMoved the focus goes to the view */
    function showState(next, isMoved) {
        const before = state;
        state = next;
        for (const [name, link] of navLinks) {
            // A link of the navigation keeps the filters, and opens nothing.
            link.setAttribute("href", page.link({ view: name, match: "", group: "", place: "" }));
            const own = next.view === name || next.view === { matches: "match", groups: "group" }[name];
            own ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
        }
        if (view && shown === next.view && view.update?.(next)) {
            document.title = `${view.title} – ${pageTitle}`;
            return;
        }
        view?.closed?.();
        view = null;
        shown = next.view;
        const build = BUILDERS[next.view];
        overview.hidden = build !== undefined;
        app.hidden = build === undefined;
        app.replaceChildren();
        /** @type {HTMLElement | null} */
        let focus = overview.querySelector("h2") ?? document.querySelector("h1");
        if (build) {
            view = build(page, next, before);
            append(app, view.element);
            if (HELP[next.view]) {
                append(app, helpLine());
            }
            focus = view.focus;
        }
        document.title = view ? `${view.title} – ${pageTitle}` : pageTitle;
        if (isMoved && focus) {
            focus.tabIndex = focus.hasAttribute("href") ? 0 : -1;
            if (before.view !== next.view || before.match !== next.match || before.group !== next.group) {
                window.scrollTo(0, 0);
            }
            focus.focus();
        }
        view?.opened?.();
    }

    window.addEventListener("hashchange", () => {
        const next = parseFragment(location.hash);
        if (formatFragment(next) !== formatFragment(state)) {
            showState(next, true);
        }
    });
    window.addEventListener("storage", (event) => {
        if (event.key === verdicts.name) {
            verdicts.restore();
            if (shown === "verdicts") {
                view?.update?.(state);
            }
        }
    });
    document.addEventListener("keydown", (event) => {
        const target = event.target instanceof Element ? event.target : null;
        const isTyped = target?.closest("input:not([type=checkbox]), textarea, select, [role=application]");
        if (isTyped && event.key === "Escape" && target instanceof HTMLInputElement) {
            target.blur();
        } else if (!isTyped && !event.ctrlKey && !event.altKey && !event.metaKey && !event.defaultPrevented) {
            if ((keysUsed || event.key === "Escape") && view?.key?.(event.key)) {
                event.preventDefault();
            }
        }
    });
    showState(state, state.view !== "overview");
}

start();
