// As much of a browser as the page's modules need to be tried without one: elements, listeners, storage, and a server that a
// test answers itself.

class Element {
  constructor(tag) {
    Object.assign(this, { tag, children: [], attributes: {}, listeners: {}, parent: null, hidden: false, value: "", dataset: {}, open: false });
    this.scrollTop = this.clientHeight = this.scrollHeight = 0;
    const names = new Set();
    this.classList = {
      add: (name) => names.add(name),
      remove: (name) => names.delete(name),
      contains: (name) => names.has(name),
      toggle: (name, is = !names.has(name)) => (is ? names.add(name) : names.delete(name)),
    };
  }
  setAttribute(name, value) {
    this.attributes[name] = value;
    if (name === "id") byId.set(value, this);
    if (["hidden", "disabled", "open"].includes(name)) this[name] = true;
  }
  removeAttribute(name) {
    delete this.attributes[name];
  }
  append(...nodes) {
    for (const node of nodes) {
      const child = node instanceof Element ? node : text(String(node));
      child.parent = this;
      this.children.push(child);
    }
  }
  replaceChildren(...nodes) {
    this.children = [];
    this.append(...nodes);
  }
  remove() {
    if (this.parent) this.parent.children = this.parent.children.filter((node) => node !== this);
  }
  addEventListener(name, listener) {
    (this.listeners[name] ??= []).push(listener);
  }
  dispatch(name, event = {}) {
    for (const listener of this.listeners[name] ?? []) listener({ preventDefault() {}, target: this, ...event });
  }
  get textContent() {
    return this.data ?? this.children.map((child) => child.textContent).join("");
  }
  set textContent(value) {
    this.replaceChildren(String(value));
  }
  get childElementCount() {
    return this.children.filter((child) => child.data === undefined).length;
  }
  get firstElementChild() {
    return this.children.find((child) => child.data === undefined) ?? null;
  }
  all() {
    return this.children.flatMap((child) => [child, ...child.all()]);
  }
  querySelector() {
    return null;
  }
  querySelectorAll() {
    return [];
  }
  contains(node) {
    return this.all().includes(node);
  }
  closest() {
    return null;
  }
  focus() {}
  blur() {}
  click() {
    this.dispatch("click");
  }
  scrollIntoView() {}
}

const byId = new Map();
const text = (data) => Object.assign(new Element("#text"), { data });
const storage = () => {
  const values = new Map();
  return { getItem: (name) => values.get(name) ?? null, setItem: (name, value) => values.set(name, String(value)), removeItem: (name) => values.delete(name) };
};
const named = (id) => byId.get(id) ?? (byId.set(id, new Element("div")), byId.get(id));

export const requests = [];
let answer = () => ({});

/// Sets how the server answers: `respond(path, body, headers)` returns a value, `{ refusedWith: status }`, or a promise of one.
export function serve(respond) {
  answer = respond;
}

/// Lets everything happen that needs no answer.
export async function settle() {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/// The first button beneath a node whose text is this one.
export const button = (node, name) => node.all().find((one) => one.tag === "button" && one.textContent === name);

/// Presses Enter in a box, with Control.
export const enter = (box, more = {}) => box.dispatch("keydown", { key: "Enter", ctrlKey: true, ...more });

const listeners = new Element("window");
Object.assign(globalThis, {
  Node: Element,
  localStorage: storage(),
  sessionStorage: storage(),
  location: { hash: "", pathname: "/ui/" },
  history: { pushState() {}, replaceState() {} },
  requestAnimationFrame: (then) => setImmediate(then),
  matchMedia: () => ({ matches: false, addEventListener() {} }),
  addEventListener: (name, listener) => listeners.addEventListener(name, listener),
  window: globalThis,
  document: {
    createElement: (tag) => new Element(tag),
    createTextNode: text,
    createDocumentFragment: () => new Element("fragment"),
    getElementById: named,
    addEventListener() {},
    activeElement: null,
    visibilityState: "visible",
  },
  fetch: async (url, options = {}) => {
    const path = url.replace("/ui/api/", "");
    const body = options.body && JSON.parse(options.body);
    requests.push({ path, body, headers: options.headers });
    const value = await answer(path, body, options.headers);
    if (value?.refusedWith) return { ok: false, status: value.refusedWith, json: async () => ({ error: "no" }) };
    return { ok: true, status: 200, json: async () => value, text: async () => String(value), body: null };
  },
});

/// Sends a key to the page.
export const press = (key, more = {}) => listeners.dispatch("keydown", { key, target: new Element("body"), ...more });
