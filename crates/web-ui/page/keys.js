// Keys of one letter, for the view that is open. They do nothing while a person types.

import { el, fill, button } from "./dom.js";

const COMMON = [
  ["1 – 5", "the views"],
  ["j, k", "next and previous hunk of a difference"],
  ["Esc", "leave the box that you type in"],
  ["?", "this help"],
];

let actions = {};

/// Sets the actions of the open view: for each key what it does and its name.
export function setKeys(ofView) {
  actions = ofView;
}

const isTyping = (node) => node.matches?.("input:not([type=checkbox]), textarea, select, [contenteditable]");

addEventListener("keydown", (event) => {
  if (event.key === "Escape" && isTyping(event.target)) {
    event.target.blur();
    document.getElementById("main").focus({ preventScroll: true });
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isTyping(event.target)) return;
  if (document.getElementById("dialog").open) return;
  // A key that is held down moves on, and does nothing else twice.
  if (event.repeat && event.key !== "j" && event.key !== "k") return;
  const action = actions[event.key] ?? COMMON_ACTIONS[event.key];
  if (!action || action.unless?.(event.target)) return;
  event.preventDefault();
  action.run();
});

const COMMON_ACTIONS = {
  "?": { run: help },
  j: { run: () => step(1) },
  k: { run: () => step(-1) },
};

/// Adds actions that every view has.
export function addKey(key, run) {
  COMMON_ACTIONS[key] = { run };
}

/// Moves to the next hunk of a difference, or the previous one.
function step(by) {
  const hunks = [...document.querySelectorAll("#main .hunk")].filter((hunk) => hunk.offsetParent);
  if (hunks.length === 0) return;
  const current = hunks.indexOf(document.activeElement?.closest?.(".hunk"));
  const next = current < 0 ? (by > 0 ? 0 : hunks.length - 1) : Math.min(Math.max(current + by, 0), hunks.length - 1);
  hunks[next].focus({ preventScroll: true });
  hunks[next].scrollIntoView({ block: "nearest" });
}

/// Shows the keys of the open view.
export function help() {
  const rows = [...Object.entries(actions).map(([key, action]) => [key, action.name]), ...COMMON.filter(([keys]) => !keys.split(", ").some((key) => actions[key]))];
  dialog(
    "Keys",
    el("dl", { class: "keys" }, rows.filter(([, name]) => name).map(([key, name]) => [el("dt", {}, el("kbd", {}, key === " " ? "Space" : key)), el("dd", {}, name)])),
    el("p", { class: "faint" }, "The page talks to agentd on this machine only. Nothing is loaded from elsewhere."),
  );
}

/// Shows a dialog with a button that closes it.
export function dialog(title, ...content) {
  const box = document.getElementById("dialog");
  const close = button("Close", () => box.close(), { kind: "primary" });
  fill(box, el("h2", { id: "dialog-title" }, title), content, el("div", { class: "row end" }, close));
  box.showModal();
  close.focus();
}

/// Asks before something is done. Resolves to true or false.
export function confirmed(title, yes, ...content) {
  const box = document.getElementById("dialog");
  return new Promise((resolve) => {
    let answer = false;
    const accept = button(yes, () => ((answer = true), box.close()), { kind: "primary" });
    const refuse = button("Cancel", () => box.close());
    fill(box, el("h2", { id: "dialog-title" }, title), el("div", { class: "dialog-body", tabindex: "0" }, content), el("div", { class: "row end" }, refuse, accept));
    box.addEventListener("close", () => resolve(answer), { once: true });
    box.showModal();
    accept.focus();
  });
}
