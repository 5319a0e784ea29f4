// Elements. Every text becomes a text node, and attributes have names and values of this program, never of a workspace.

import { visible } from "./visible.js";

/// Makes an element. `props` are attributes, `on…` functions are listeners, `class` is a list of classes. A child is a node or
/// a text; a text is shown with its unseen characters made visible.
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.className = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  append(node, children);
  return node;
}

export function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    node.append(child instanceof Node ? child : visible(String(child)));
  }
  return node;
}

/// Replaces the content of an element.
export function fill(node, ...children) {
  node.replaceChildren();
  return append(node, children);
}

/// A button with its key beside its name.
export function button(name, onclick, { key, kind = "", label, disabled = false } = {}) {
  return el("button", { type: "button", class: kind, onclick, disabled, "aria-label": label, "aria-keyshortcuts": key, "data-key": key }, name);
}

/// Says something to people who do not see the page.
export function say(text) {
  const live = document.getElementById("live");
  live.textContent = "";
  // A change of the same text would not be read out.
  requestAnimationFrame(() => (live.textContent = text));
}

/// Shows a notice that goes away by itself, unless it is a problem.
export function notice(text, { advice, bad = false } = {}) {
  const box = el("div", { class: bad ? "notice bad" : "notice", role: bad ? "alert" : "status" }, el("p", {}, text));
  if (advice) box.append(el("p", { class: "faint" }, advice));
  const close = () => box.remove();
  box.append(button("Close", close, { kind: "quiet small", label: "Close this notice" }));
  const notices = document.getElementById("notices");
  while (notices.childElementCount >= 3) notices.firstElementChild.remove();
  notices.append(box);
  if (!bad) setTimeout(close, 6000);
}

/// Shows the failure of a request.
export function problem(error) {
  notice(error.message || String(error), { advice: error.advice, bad: true });
}

export const number = (value) => Number(value).toLocaleString("en");

export function plural(count, one, many = `${one}s`) {
  return `${number(count)} ${count === 1 ? one : many}`;
}

/// A time as people say it, with the exact one behind it.
export function time(text) {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return el("time", {}, text || "");
  const today = date.toDateString() === new Date().toDateString();
  const clock = date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const shown = today ? clock : `${date.toLocaleDateString([], { day: "numeric", month: "short" })} ${clock}`;
  return el("time", { datetime: date.toISOString(), title: date.toLocaleString() }, shown);
}
