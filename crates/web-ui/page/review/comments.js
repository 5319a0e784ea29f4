// Comments: at their lines, or where their lines are gone; and the box in which one is written.

import { el, button, notice, say } from "../dom.js";
import { confirmed } from "../keys.js";

const MOST_QUOTED = 8;

const lines = (first, last) => (first === last ? `line ${first}` : `lines ${first} to ${last}`);

/// The name of the place of a comment.
function placeName(comment, position) {
  if (position === "step") return comment.path || "the command";
  if (position === "outdated") return `${comment.path}, lines that have changed since`;
  const { first, last } = position.lines;
  return `${comment.side === "before" ? "old " : ""}${lines(first, last)}`;
}

/// A comment with its actions; `quotes` shows the lines that it was written about.
export function commentBox(draft, index, { quotes, isOpen }) {
  const comment = draft.comments[index];
  const name = placeName(comment, draft.positions[index]);
  const box = el("article", { class: "comment", "aria-label": `Comment on ${name}` });
  const show = () => {
    const quoted = (comment.anchor?.quoted ?? "").split("\n");
    box.replaceChildren();
    box.append(
      el(
        "div",
        { class: "comment-head" },
        el("span", { class: "faint" }, name),
        isOpen && button("Edit", edit, { kind: "quiet small", label: `Edit the comment on ${name}` }),
        isOpen && button("Remove", remove, { kind: "quiet small", label: `Remove the comment on ${name}` }),
      ),
    );
    if (quotes && comment.anchor) {
      const shown = quoted.slice(0, MOST_QUOTED).map((line) => (line.length > 300 ? `${line.slice(0, 300)}…` : line));
      if (quoted.length > MOST_QUOTED) shown.push(`… ${quoted.length - MOST_QUOTED} more`);
      box.append(el("blockquote", {}, el("pre", {}, shown.join("\n"))));
    }
    box.append(el("p", { class: "message-text" }, comment.text));
  };
  const edit = () => {
    const text = el("textarea", { rows: "3", "aria-label": `Comment on ${name}` });
    text.value = comment.text;
    const save = () => {
      if (text.value.trim()) change(text.value);
    };
    onControlEnter(text, save);
    box.replaceChildren(text, el("div", { class: "row" }, button("Save", save, { kind: "primary small" }), button("Cancel", show, { kind: "small" })));
    text.focus();
  };
  const remove = async () => {
    if (!(await confirmed("Remove this comment?", "Remove", el("p", { class: "message-text" }, comment.text)))) return;
    change(null);
  };
  // Another window may have changed the list meanwhile.
  const change = (value) => {
    const now = draft.comments[index];
    if (now?.text !== comment.text || now.step !== comment.step) return notice("This comment was changed meanwhile", { bad: true });
    show();
    draft.changeComment(index, value).catch(() => {});
  };
  show();
  return box;
}

/// The box for a new comment. It is remembered until it is saved or given up, so that a reload does not lose it.
export class CommentForm {
  constructor(draft, place, { saved, closed }) {
    this.draft = draft;
    this.place = place;
    this.closed = closed;
    this.text = el("textarea", { id: "comment", rows: "3", "aria-label": `Comment on ${place.title}` });
    this.text.value = place.text ?? "";
    this.text.addEventListener("input", () => this.remember());
    this.first = this.number("from line", place.first);
    this.last = this.number("to", place.last);
    const save = () => this.save(saved);
    [this.text, this.first, this.last].forEach((node) => onControlEnter(node, save));
    const isOnLines = place.first !== undefined;
    this.root = el(
      "div",
      { class: "comment form", role: "group", "aria-label": "New comment" },
      el("div", { class: "comment-head" }, el("span", { class: "faint" }, place.title, place.side === "before" && ", before the change"), isOnLines && el("span", { class: "row range" }, this.first.parentNode, this.last.parentNode)),
      this.text,
      el("div", { class: "row" }, button("Comment", save, { kind: "primary small" }), button("Cancel", () => this.close(), { kind: "small" }), el("span", { class: "faint small" }, "Ctrl+Enter saves")),
    );
    this.remember();
  }

  number(name, value) {
    const input = el("input", { type: "number", min: "1", value, "aria-label": `${name}` });
    input.addEventListener("input", () => this.remember());
    el("label", {}, `${name} `, input);
    return input;
  }

  /// Makes the last line of the comment another one.
  extend(side, line) {
    if (side !== this.place.side) return false;
    const first = Number(this.first.value);
    [this.first.value, this.last.value] = [Math.min(first, line), Math.max(first, line)];
    this.remember();
    return true;
  }

  remember() {
    const { step, side, title, key } = this.place;
    const range = this.place.first === undefined ? {} : { first: Number(this.first.value), last: Number(this.last.value) };
    sessionStorage.setItem(storeName(this.draft.id), JSON.stringify({ step, side, title, key, ...range, text: this.text.value }));
  }

  async save(saved) {
    const text = this.text.value;
    if (!text.trim() || this.isSaving) return;
    this.isSaving = true;
    const range = this.place.first === undefined ? null : [Number(this.first.value), Number(this.last.value)];
    try {
      await this.draft.comment({ step: this.place.step, side: this.place.side ?? "after", lines: range, text });
      say("The comment is saved");
      this.close();
      saved?.();
    } catch {
      // It was said, and the text stays in the box.
    } finally {
      this.isSaving = false;
    }
  }

  close() {
    sessionStorage.removeItem(storeName(this.draft.id));
    this.root.remove();
    this.closed();
  }
}

const storeName = (id) => `agentd-comment-${id}`;

/// The comment that was being written when the page was left.
export function unfinished(id) {
  return JSON.parse(sessionStorage.getItem(storeName(id)) ?? "null");
}

function onControlEnter(node, run) {
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    run();
  });
}
