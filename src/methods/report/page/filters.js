// The filters and the sorting of the list of matches.
import { formatNumber, make, makeButton, makeSelect } from "./elements.js";
import { countKinds, countValues } from "./list.js";
import { NO_FILTERS, START, formatFragment } from "./state.js";
import { VERDICTS } from "./verdicts.js";

/** @import { Page, State } from "./state.js" */

/** Milliseconds without a key before the list is searched. */
const PAUSE = 120;

/** @type {[sort: string, label: string][]} */
const SORT_LABELS = [
    ["best", "Best first"],
    ["length", "Longest first"],
    ["similarity", "Most similar first"],
    ["newest", "Newest first"],
    ["oldest", "Oldest first"],
    ["ids", "Ids of documents"],
];

/**
 * Returns the filters, and a function that puts the values of a state into them.
 * @param {Page} page
 * @param {State} state
 */
export function matchFilters(page, state) {
    const { report } = page;
    const form = make("form", { class: "filters", role: "search", "aria-label": "Filters of matches" });
    form.addEventListener("submit", (event) => event.preventDefault());
    /** @type {((state: State) => void)[]} */
    const setters = [];
    /** @type {Partial<State>} */
    let pending = {};
    let timer = 0;
    const fields = make("div", { class: "fields" });
    // On a narrow screen the fields would push the list out of sight.
    const isOpen = matchMedia("(min-width: 46rem)").matches || formatFragment({ ...state, ...NO_FILTERS }) !== formatFragment(state);
    const fold = make("details", { open: isOpen }, make("summary", {}, "Filters"), fields);

    /**
     * @param {keyof State} name
     * @param {string} label
     * @param {Record<string, string | number>} attributes
     */
    function input(name, label, attributes) {
        const field = make("input", attributes);
        const isNumber = typeof START[name] === "number";
        field.addEventListener("input", () => {
            const empty = field.value === "" || !field.validity.valid;
            pending = { ...pending, [name]: isNumber ? (empty ? START[name] : Number(field.value)) : field.value };
            clearTimeout(timer);
            timer = window.setTimeout(() => {
                if (form.isConnected) {
                    page.go(pending, true);
                }
                pending = {};
            }, PAUSE);
        });
        setters.push((shown) => {
            if (document.activeElement !== field) {
                field.value = shown[name] === START[name] ? "" : String(shown[name]);
            }
        });
        return make("label", { class: `field ${name}` }, make("span", {}, label), field);
    }

    /**
     * @param {keyof State} name
     * @param {string} label
     * @param {[value: string, label: string][]} options
     */
    function choice(name, label, options) {
        const { element, select } = makeSelect(label, options, String(state[name]), (value) => {
            page.go({ [name]: value }, true);
        });
        setters.push((shown) => {
            select.value = String(shown[name]);
        });
        return element;
    }

    // Days have their own filter.
    const columns = report.columns.filter((_, at) => at !== report.time);
    if (columns.length > 0) {
        const given = columns.includes(state.column) ? state.column : columns[0];
        let column = "";
        const columnChoice = makeSelect("Column", columns.map((name) => [name, name]), given, (name) => {
            page.go({ column: name, value: "" }, true);
        });
        fields.append(columnChoice.element);
        const value = makeSelect("Value in either document", [["", "any"]], "", (chosen) => {
            page.go({ column, value: chosen }, true);
        });
        fields.append(value.element);
        setters.push((shown) => {
            const name = columns.includes(shown.column) ? shown.column : columns[0];
            if (name !== column) {
                column = name;
                columnChoice.select.value = name;
                /** @type {[string, string][]} */
                const options = countValues(report, report.columns.indexOf(name)).map(([text, count]) => [
                    text,
                    `${text} (${formatNumber(count)})`,
                ]);
                if (shown.value !== "" && !options.some(([text]) => text === shown.value)) {
                    options.push([shown.value, shown.value]);
                }
                value.select.replaceChildren(make("option", { value: "" }, "any"));
                for (const [text, label] of options) {
                    value.select.append(make("option", { value: text }, label));
                }
            }
            value.select.value = shown.value;
        });
    }
    fields.append(input("length", "Least characters", { type: "number", min: 0, step: 1 }));
    if (report.matches.some(({ similarity }) => similarity !== null)) {
        fields.append(input("low", "Similarity from", { type: "number", min: 0, max: 1, step: "any" }));
        fields.append(input("high", "Similarity to", { type: "number", min: 0, max: 1, step: "any" }));
    }
    const kinds = countKinds(report);
    if (kinds.length > 0) {
        /** @type {[string, string][]} */
        const options = kinds.map(([kind, count]) => [kind, `${kind} (${formatNumber(count)})`]);
        fields.append(choice("kind", "Kind", [["", "any"], ...options]));
    }
    if (report.time !== null) {
        fields.append(input("from", "From day", { type: "date" }), input("to", "To day", { type: "date" }));
    }
    /** @type {[string, string][]} */
    const verdicts = VERDICTS.map(([verdict, , label]) => [verdict, label]);
    fields.append(
        choice("verdict", "Verdict", [["", "any or none"], ["none", "none yet"], ...verdicts]),
        makeButton("Clear filters", () => {
            pending = {};
            page.go({ ...NO_FILTERS }, true);
        }),
    );
    const sorts = SORT_LABELS.filter(([sort]) => report.time !== null || (sort !== "newest" && sort !== "oldest"));
    form.append(input("find", "Find in texts and ids", { type: "search" }), choice("sort", "Sort", sorts), fold);
    /** @param {State} shown */
    function setFields(shown) {
        setters.forEach((set) => set(shown));
    }
    return { form, setFields };
}
