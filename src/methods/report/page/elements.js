// Elements of the page. Text from documents only ever becomes text nodes and attribute values, never markup.

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, string | number | boolean | null | undefined>} Attributes */

const SAFE_SCHEMES = ["http:", "https:", "file:"];

/**
 * Returns true if an address is absolute and of a scheme that cannot run a script.
 * @param {string} address
 */
export function isSafeLink(address) {
    try {
        return SAFE_SCHEMES.includes(new URL(address).protocol);
    } catch {
        return false;
    }
}

/**
 * Replaces control characters by their pictures (NUL by ␀), one unit by one unit, so that offsets stay.
 * @param {string} text
 */
export function withPictures(text) {
    return text.replace(/\r(?!\n)|[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g, (character) => {
        const code = character.charCodeAt(0);
        return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? "\u2421" : "\ufffd";
    });
}

/**
 * Sets attributes and appends children. Unsafe links and attributes that could run code are left out.
 * @param {Element} parent
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
function fill(parent, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
        if (value === null || value === undefined || value === false || name === "style" || name.startsWith("on")) {
            continue;
        }
        if (name !== "href" || String(value).startsWith("#") || isSafeLink(String(value))) {
            parent.setAttribute(name, value === true ? "" : String(value));
        }
    }
    append(parent, ...children);
}

/**
 * Appends nodes, and other values as text.
 * @param {Element} parent
 * @param {...Child} children
 */
export function append(parent, ...children) {
    for (const child of children) {
        if (child instanceof Node) {
            parent.append(child);
        } else if (child !== null && child !== undefined && child !== false) {
            parent.append(withPictures(String(child)));
        }
    }
}

/**
 * Returns a new element.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function make(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    fill(made, attributes, children);
    return made;
}

/**
 * Returns a new element of SVG.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[T]}
 */
export function makeSvg(tag, attributes = {}, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    fill(made, attributes, children);
    return made;
}

/**
 * Returns a button that calls a function.
 * @param {string} label
 * @param {() => void} pressed
 * @param {Attributes} [attributes]
 */
export function makeButton(label, pressed, attributes = {}) {
    const button = make("button", { type: "button", ...attributes }, label);
    button.addEventListener("click", pressed);
    return button;
}

/**
 * Returns a button that shows its key.
 * @param {string} label
 * @param {string} key
 * @param {() => void} pressed
 */
export function keyButton(label, key, pressed) {
    const button = makeButton(`${label} `, pressed);
    append(button, make("kbd", { "aria-hidden": "true" }, key));
    return button;
}

/**
 * Returns a labelled select.
 * @param {string} label
 * @param {[value: string, label: string][]} options
 * @param {string} chosen
 * @param {(value: string) => void} changed
 */
export function makeSelect(label, options, chosen, changed) {
    const select = make("select");
    for (const [value, text] of options) {
        select.append(make("option", { value, selected: value === chosen }, text));
    }
    select.addEventListener("change", () => changed(select.value));
    return { element: make("label", { class: "field" }, make("span", {}, label), select), select };
}

/** Characters of an id that are shown. */
const NAME_LIMIT = 300;

/**
 * Returns an id; a very long one is cut, and whole as a tooltip.
 * @param {string} id
 */
export function makeName(id) {
    if (id.length <= NAME_LIMIT) {
        return make("bdi", {}, id);
    }
    const cut = id.slice(0, NAME_LIMIT).replace(/[\ud800-\udbff]$/, "");
    return make("bdi", { title: id }, `${cut}…`);
}

/**
 * Returns a list of names and values.
 * @param {[name: string, value: Child][]} facts
 */
export function makeFacts(facts) {
    const list = make("dl", { class: "facts" });
    for (const [name, value] of facts) {
        list.append(make("div", {}, make("dt", {}, make("bdi", {}, name)), make("dd", {}, make("bdi", {}, value))));
    }
    return list;
}

/**
 * Returns a list that shows some items at a time, with a button for more, and a function that shows up to an item.
 * @template T
 * @param {readonly T[]} items
 * @param {(item: T, at: number) => HTMLElement} row
 * @param {{size?: number, class?: string, noun?: string, shown?: (count: number) => void}} [options]
 */
export function pagedList(items, row, options = {}) {
    const size = options.size ?? 50;
    const list = make("ol", { class: options.class ?? "rows" });
    const more = makeButton("", () => {
        const first = list.children.length;
        show(first + size);
        const next = list.children[first];
        const target = next?.querySelector("a[href], button") ?? next;
        if (target instanceof HTMLElement) {
            target.focus();
        }
    });
    const element = make("div", {}, list, make("p", { class: "more" }, more));
    /** @param {number} count */
    function show(count) {
        for (let at = list.children.length; at < Math.min(count, items.length); at++) {
            list.append(row(items[at], at));
        }
        const left = items.length - list.children.length;
        more.textContent = `Show ${formatNumber(Math.min(left, size))} more`;
        more.hidden = left === 0;
        options.shown?.(list.children.length);
    }
    show(size);
    return { element, list, show };
}

/** @param {number} value */
export function formatNumber(value) {
    return value.toLocaleString("en");
}

/**
 * Returns a word with a capital letter.
 * @param {string} word
 */
export function capital(word) {
    return word.charAt(0).toUpperCase() + word.slice(1);
}

/**
 * Returns a number with its noun, which takes an s unless it is one.
 * @param {number} count
 * @param {string} noun
 * @param {string} [plural]
 */
export function formatCount(count, noun, plural = `${noun}s`) {
    return `${formatNumber(count)} ${count === 1 ? noun : plural}`;
}

/**
 * Returns a similarity of at most three digits; only 1 is shown as 1.
 * @param {number} similarity
 */
export function formatSimilarity(similarity) {
    const rounded = Number(similarity.toFixed(3));
    return String(rounded === 1 && similarity < 1 ? 0.999 : rounded);
}

/**
 * Returns the day of a time in seconds since 1970.
 * @param {number} seconds
 */
export function formatDay(seconds) {
    const date = new Date(seconds * 1000);
    return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString().slice(0, -14);
}
