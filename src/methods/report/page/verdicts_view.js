// The list of verdicts, and their files.
import { append, capital, formatCount, formatSimilarity, make, makeName, pagedList } from "./elements.js";
import { pairLabel } from "./matches.js";
import { loadedMessage, verdictLabel } from "./verdicts.js";

/** @import { Page, View } from "./state.js" */
/** @import { Verdict } from "./verdicts.js" */

/**
 * Returns the link to the subject of a verdict; its key if the report lacks it.
 * @param {Page} page
 * @param {string} key
 */
function subjectLink(page, key) {
    const { report, index } = page;
    const match = index.matches.get(key);
    if (match !== undefined) {
        const { a, b } = report.matches[match];
        return make("a", { href: page.link({ view: "match", match: key }) }, ...pairLabel(page, a, b));
    }
    const place = index.places.get(key);
    if (place) {
        const group = report.groups[place.group];
        const document = report.documents[group.shown[place.place].document];
        const link = make("a", { href: page.link({ view: "group", group: group.key, place: key }) });
        append(link, `${capital(report.nouns[0])} `, make("bdi", {}, group.name), ", ", makeName(document.id));
        return link;
    }
    return make("span", {}, make("bdi", {}, key), " (not in the report)");
}

/**
 * Saves text as a file.
 * @param {string} name
 * @param {string} text
 */
function saveFile(name, text) {
    const address = URL.createObjectURL(new Blob([text], { type: "application/x-ndjson" }));
    const link = document.createElement("a");
    link.href = address;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/**
 * Returns the list of verdicts.
 * @param {Page} page
 * @returns {View}
 */
export function verdictsView(page) {
    const { report, verdicts } = page;
    const heading = make("h2", { tabindex: -1 }, "Verdicts");
    const count = make("p", { class: "count" });
    const said = make("p", { role: "status" });
    const holder = make("div");
    const save = make("button", { type: "button", class: "primary" }, "Save as NDJSON");
    save.addEventListener("click", () => {
        saveFile(`verdicts-${report.result}.ndjson`, verdicts.format());
        said.textContent = `${formatCount(verdicts.all().length, "verdict")} saved`;
    });
    const files = make("input", { type: "file", accept: ".ndjson,.jsonl,.json,application/x-ndjson", multiple: true });
    files.addEventListener("change", async () => {
        const counts = { loaded: 0, other: 0, invalid: 0 };
        for (const file of files.files ?? []) {
            const { loaded, other, invalid } = verdicts.load(await file.text());
            counts.loaded += loaded;
            counts.other += other;
            counts.invalid += invalid;
        }
        files.value = "";
        show();
        said.textContent = loadedMessage(counts);
    });

    /** @param {Verdict} verdict */
    function verdictRow({ key, verdict, note, similarity, at }) {
        return make(
            "li",
            { class: "row" },
            make("p", { class: "ids" }, subjectLink(page, key)),
            make(
                "p",
                { class: "meta" },
                make("span", { class: "badge" }, verdictLabel(verdict)),
                similarity !== null && make("span", {}, `similarity ${formatSimilarity(similarity)}`),
                make("span", {}, make("bdi", {}, at)),
            ),
            note !== "" && make("p", { class: "note", dir: "auto" }, note),
        );
    }

    function show() {
        const all = verdicts.all().reverse();
        count.textContent = verdicts.isKept()
            ? `${formatCount(all.length, "verdict")}, kept in this browser`
            : `${formatCount(all.length, "verdict")}. This browser does not keep them: save them before you close the page`;
        save.disabled = all.length === 0;
        holder.replaceChildren(pagedList(all, verdictRow).element);
    }
    show();
    const element = make(
        "section",
        { class: "view" },
        heading,
        count,
        make("div", { class: "buttons" }, save),
        make("label", { class: "field wide" }, make("span", {}, "Load files of verdicts"), files),
        said,
        holder,
    );
    return {
        element,
        title: "Verdicts",
        focus: heading,
        update() {
            show();
            return true;
        },
    };
}
