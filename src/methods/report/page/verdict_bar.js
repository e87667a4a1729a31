// Buttons, keys and the note of a verdict, and the badge that shows it.
import { keyButton, make } from "./elements.js";
import { VERDICTS, verdictLabel } from "./verdicts.js";

/** @import { Subject, Verdicts } from "./verdicts.js" */

/**
 * Returns an element that shows the verdict on a subject.
 * @param {Verdicts} verdicts
 * @param {string} key
 */
export function verdictBadge(verdicts, key) {
    const badge = make("span", { class: "badge", "data-verdict-of": key });
    updateBadge(verdicts, badge, key);
    return badge;
}

/**
 * @param {Verdicts} verdicts
 * @param {HTMLElement} badge
 * @param {string} key
 */
function updateBadge(verdicts, badge, key) {
    const verdict = verdicts.get(key);
    badge.textContent = verdict ? verdictLabel(verdict.verdict) : "";
    badge.hidden = !verdict;
}

/**
 * Returns the buttons and the note for the verdict on a subject.
 * @param {Verdicts} verdicts
 */
export function verdictBar(verdicts) {
    /** @type {Subject | null} */
    let subject = null;
    const said = make("p", { class: "hidden", role: "status" });
    const heading = make("p", { class: "subject" });
    const note = make("input", { type: "text", maxlength: 10_000 });
    /** @type {Map<string, HTMLButtonElement>} */
    const buttons = new Map();
    const row = make("div", { class: "buttons" });
    for (const [verdict, key, label] of VERDICTS) {
        const button = keyButton(label, key, () => set(verdict));
        buttons.set(verdict, button);
        row.append(button);
    }
    const clear = keyButton("Clear", "x", () => set(""));
    row.append(clear);
    // A note without a verdict is kept as unsure.
    note.addEventListener("change", () => {
        const given = subject && verdicts.get(subject.key);
        if (given || note.value !== "") {
            set(given ? given.verdict : "unsure");
        }
    });
    const element = make(
        "section",
        { class: "verdict", "aria-label": "Verdict" },
        heading,
        row,
        make("label", { class: "field note" }, make("span", {}, "Note"), note),
        said,
    );

    /** @param {string} verdict */
    function set(verdict) {
        if (!subject) {
            return;
        }
        verdicts.set(subject, verdict, verdict === "" ? "" : note.value);
        said.textContent = verdict === "" ? "Verdict cleared" : `Verdict: ${verdictLabel(verdict)}`;
        for (const badge of document.querySelectorAll("[data-verdict-of]")) {
            if (badge instanceof HTMLElement && badge.dataset.verdictOf === subject.key) {
                updateBadge(verdicts, badge, subject.key);
            }
        }
        show(subject);
    }

    /** @param {Subject | null} shown */
    function show(shown) {
        subject = shown;
        element.hidden = !shown;
        const given = shown ? verdicts.get(shown.key) : undefined;
        heading.textContent = shown ? `Verdict on ${shown.name}` : "";
        note.value = given?.note ?? "";
        clear.disabled = !given;
        for (const [verdict, button] of buttons) {
            button.setAttribute("aria-pressed", String(given?.verdict === verdict));
        }
    }

    return {
        element,
        show,
        /**
         * Gives the verdict of a key; false if it is none's.
         * @param {string} pressed
         */
        key(pressed) {
            const verdict = pressed === "x" ? "" : VERDICTS.find(([, key]) => key === pressed)?.[0];
            if (verdict === undefined || !subject) {
                return false;
            }
            set(verdict);
            return true;
        },
    };
}
